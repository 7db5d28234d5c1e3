// Writes tables of keys for people and for the next run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Returns nested maps of YAML in block style, which can be loaded again. The text that `comment`
// returns for a key is put before the key, unless it is empty.
std::string nested_yaml(std::vector<Key> const& keys,
                        std::function<std::string(Key const&)> const& comment);

// Returns every value that the family's models use, as an input file that loads to an equal Config.
std::string to_yaml(Config const& config);

// Returns those lines of to_yaml that describe the model: the section `model` and the ids of tokens
// in the section `data`.
std::string model_yaml(Config const& config);

// Returns all values, each behind a comment with its meaning, type, unit, bounds and default. The
// text can be loaded as an input file.
std::string print_config(Config const& config);

// Returns the text of docs/keys.md, which has one table per group of keys.
std::string keys_markdown();

}  // namespace spillway
