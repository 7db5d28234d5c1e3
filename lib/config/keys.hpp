// One table lists all keys of input files. By it, input files and overrides are read, and
// config.yaml, docs/keys.md and the output of --print-config are written. The default of a key is
// the value of its field in a default-constructed Config.
#pragma once

#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Returns every key of this version, in the order of docs/keys.md. `config` must outlive the keys.
std::vector<Key> keys_of(Config& config);

// Returns names, or groups of names, that the documentation promises for a later version.
std::vector<std::string_view> const& later_keys();

}  // namespace spillway
