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

// Key name -> where it was last given: "input/gpt.yaml:14" or "command line".
inline constexpr std::string_view command_line = "command line";
using Origins = std::map<std::string, std::string, std::less<>>;

// The tree of a file whose keys a table names: every key known, none given twice. `hint`: what to
// do about an unknown key that is like no other.
void assign_keys(std::vector<Key> keys, Origins& origins, Value const& root,
                 std::string const& source, std::string_view hint);

// The same for an input file.
void assign_file(Config& config, Origins& origins, Value const& root, std::string const& source);
// The same for a file that holds the keys of one group ("plan") without the group's name.
void assign_group(Config& config, Origins& origins, std::string const& group, Value const& root,
                  std::string const& source);

// One "a.b.c=value" of the command line, where value is YAML; it replaces what was given before.
void assign_override(Config& config, Origins& origins, std::string const& text);

}  // namespace spillway
