// Puts the values of a YAML tree into a Config, key by key, and remembers where each came from.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"
#include "config/value.hpp"

namespace spillway {

// Origins say for each key where it was last given, such as "input/gpt.yaml:14" or "command line".
inline constexpr std::string_view command_line = "command line";
using Origins = std::map<std::string, std::string, std::less<>>;

// Assigns the values of a file to `keys`. Refuses an unknown key and a key that is given twice.
// `hint` says what to do about an unknown key that resembles no other.
void assign_keys(std::vector<Key> keys, Origins& origins, Value const& root,
                 std::string const& source, std::string_view hint);

// Assigns the values of an input file to all keys of `config`. Refuses an unknown key and a key
// that is given twice.
void assign_file(Config& config, Origins& origins, Value const& root, std::string const& source);
// Assigns the values of a file that holds the keys of one group ("plan") without the group's name.
void assign_group(Config& config, Origins& origins, std::string const& group, Value const& root,
                  std::string const& source);

// Assigns one "a.b.c=value" of the command line, in which the value may be YAML. It replaces a
// value that was given before.
void assign_override(Config& config, Origins& origins, std::string const& text);

}  // namespace spillway
