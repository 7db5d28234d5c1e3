// What describes a model of Hugging Face, from strangers.
#pragma once

#include <vector>

#include "targets.hpp"

namespace spillway::test {

std::vector<FuzzTarget> huggingface_targets();

}  // namespace spillway::test
