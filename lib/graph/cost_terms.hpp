// Cost terms are the attributes of an op, with their names, that decide how long it takes. They are
// a part of the op's cost_key (graph/op.hpp).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

using CostTerms = std::vector<std::pair<std::string_view, double>>;

}  // namespace spillway
