// Writes keys and their values for people to read, and as input files.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"

namespace spillway {

// Returns the keys and their values as nested maps of YAML, which can be loaded as an input file.
// Before each key comes a comment with the text that `comment` returns for the key, if there is
// any.
std::string nested_yaml(std::vector<Key> const& keys,
                        std::function<std::string(Key const&)> const& comment);

// Returns an input file that loads to an equal Config. It has all keys of the model's family.
std::string to_yaml(Config const& config);

// Returns those lines of to_yaml(config) that describe the model: the section `model` and, in the
// section `data`, the ids of tokens that are set.
std::string model_yaml(Config const& config);

// Returns those lines and, in between, those of the keys `more`.
std::string model_yaml_and(Config const& config, std::span<std::string_view const> more);

// Returns all keys and their values, each after a comment with the key's meaning, type, unit,
// bounds and default. The text can be loaded as an input file.
std::string print_config(Config const& config);

// Returns the text of docs/keys.md, which has one table per group of keys.
std::string keys_markdown();

}  // namespace spillway
