// Finds the keys in which two Configs differ.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Returns a line such as "optim.lr 0.001 -> 0.0005" for every key that differs, in the order of the
// table. Leaves out keys that models of the family in `now` do not have, and keys whose Scope comes
// after `widest`.
std::vector<std::string> differences(Config before, Config now, Scope widest = Scope::run);

}  // namespace spillway
