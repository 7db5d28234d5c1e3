// Tables of keys, written for people and for the next run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Nested maps in block style; `comment` is put before its key unless it is empty. Loads again.
std::string nested_yaml(std::vector<Key> const& keys,
                        std::function<std::string(Key const&)> const& comment);

// Every value that the family's models use, as an input file that loads to an equal Config.
std::string to_yaml(Config const& config);

// Those of its section `model` alone, and the ids of tokens that its section `data` gives.
std::string model_yaml(Config const& config);

// All values, with a comment before each key: meaning, type, unit, bounds, default. Loads too.
std::string print_config(Config const& config);

// The reference in docs/keys.md: one table per group.
std::string keys_markdown();

}  // namespace spillway
