// What makes tokens of text, from strangers.
#pragma once

#include <filesystem>
#include <vector>

#include "targets.hpp"

namespace spillway::test {

std::vector<FuzzTarget> tokenizer_targets(std::filesystem::path const& scratch);

}  // namespace spillway::test
