// The table of keys, written for people and for the next run.
#pragma once

#include <string>

#include "config/config.hpp"

namespace spillway {

// Every value used, as an input file that loads to an equal Config.
std::string to_yaml(Config const& config);

// The same with a comment before each key: meaning, type, unit, bounds, default. Loads too.
std::string print_config(Config const& config);

// The reference in docs/keys.md: one table per group.
std::string keys_markdown();

}  // namespace spillway
