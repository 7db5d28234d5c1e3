// What of an op's attributes decides how long it takes, by name: a part of its cost_key.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace spillway {

using CostTerms = std::vector<std::pair<std::string_view, double>>;

}  // namespace spillway
