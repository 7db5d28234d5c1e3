// The one table of keys. Parsing, overrides, --print-config, config.yaml and docs/keys.md all come
// from it; a default is what the field of a default-constructed Config holds.
#pragma once

#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Every key of this version, in the order of the file. `config` must outlive the table.
std::vector<Key> keys_of(Config& config);

// Names (or groups of names) that the documentation promises for a later version.
std::vector<std::string_view> const& later_keys();

}  // namespace spillway
