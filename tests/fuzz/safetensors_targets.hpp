// Files of weights from strangers: whole ones, and their texts alone.
#pragma once

#include <filesystem>
#include <vector>

#include "targets.hpp"

namespace spillway::test {

std::vector<FuzzTarget> safetensors_targets(std::filesystem::path const& scratch);

}  // namespace spillway::test
