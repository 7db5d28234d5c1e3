// Finds the keys in which two Configs differ.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Returns a line such as "optim.lr 0.001 -> 0.0005" for every key that differs, in the order of the
// table. Keys that the family of `now` does not have, and those of a wider Scope, are left out.
std::vector<std::string> differences(Config before, Config now, Scope widest = Scope::run);

}  // namespace spillway
