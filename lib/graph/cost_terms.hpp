// Cost terms are the attributes of an op, with their names, that decide how long it takes. They are
// a part of its cost_key.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

using CostTerms = std::vector<std::pair<std::string_view, double>>;

}  // namespace spillway
