// Puts the values of a YAML tree into a Config, key by key, and remembers where each one was given.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/key.hpp"
#include "config/value.hpp"

namespace spillway {

// Origins maps keys to where they were last given, such as "input/gpt.yaml:14" or "command line".
inline constexpr std::string_view command_line = "command line";
using Origins = std::map<std::string, std::string, std::less<>>;

// Assigns the values of a file to `keys`. Throws Error(bad_input) if a key is unknown, is given
// twice or does not take its value. `hint` says what to do about an unknown key that resembles no
// other.
void assign_keys(std::vector<Key> keys, Origins& origins, Value const& root,
                 std::string const& source, std::string_view hint);

// Assigns the values of an input file to all keys of `config`. Throws Error(bad_input) if a key is
// unknown, is given twice or does not take its value.
void assign_file(Config& config, Origins& origins, Value const& root, std::string const& source);
// Assigns the values of a file to the keys of one group, such as "plan", whose name the file leaves
// out. Throws Error(bad_input) if a key is unknown, given twice or has a wrong value.
void assign_group(Config& config, Origins& origins, std::string const& group, Value const& root,
                  std::string const& source);

// Assigns one "a.b.c=value" of the command line, whose value may be YAML, in place of any earlier
// value. Throws Error(bad_input) if the key is unknown or does not take the value.
void assign_override(Config& config, Origins& origins, std::string const& text);

// Returns what to write instead of an option that is a key, ours or another program's, such as
// "--learning_rate" or "--run.steps=9"; "" if it is none.
std::string key_for_option(std::string_view option);

}  // namespace spillway
