// A Value is a YAML document as a plain tree, for input files, saved plans and machine files alike.
// Scalars stay text: whoever knows the expected type reads them (see scalar.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

struct Entry;

struct Value {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  int line = 1;                // line of the source, counted from 1
  std::string text;            // the text of a scalar
  std::vector<Value> items;    // the items of a list
  std::vector<Entry> entries;  // the entries of a map, in the order of the file, without equal keys

  // Returns the value under `key` of a map, or null if there is none or if this is no map.
  Value const* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  int line = 1;
  Value value;
};

// Reads one YAML document. Anchors, aliases, tags, a second document, keys that are not scalars and
// keys given twice are refused. Throws Error(bad_input, "<source>:<line>: ...").
Value parse_yaml(std::string const& text, std::string const& source);

// Reads a file that has one YAML document, as parse_yaml reads a text. Throws Error(bad_input,
// "<path>: ...") also if the file cannot be read, is empty or is larger than 4 MiB.
Value read_yaml(std::string const& path);

// Returns words for a value that was not expected: "a list", "a map", "nothing" or the quoted text.
std::string describe(Value const& value);

// Returns a YAML scalar that parse_yaml reads back: plain where that is safe, else double-quoted.
std::string quoted_yaml(std::string_view text);

}  // namespace spillway
