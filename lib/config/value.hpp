// A Value is a node of a YAML document, such as an input file, a saved plan or a machine file, with
// all nodes below it. Scalars are texts, which the functions of scalar.hpp turn into other types.
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

  // Returns the value under `key`, or null if this is no map or has no such key.
  Value const* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  int line = 1;
  Value value;
};

// Reads one YAML document. Throws Error(bad_input, "<source>:<line>: ...") if the text is not YAML
// or has an anchor, an alias, a tag, a second document, a key that is no scalar or a key given
// twice.
Value parse_yaml(std::string const& text, std::string const& source);

// Reads a file that has one YAML document, by the rules of parse_yaml. Throws Error(bad_input),
// which names the file, also if it cannot be read, is empty or is larger than 4 MiB.
Value read_yaml(std::string const& path);

// Returns words for a value in a message: "a list", "a map", "nothing" or the quoted text.
std::string describe(Value const& value);

// Returns `text` as a YAML scalar that parse_yaml reads back, in double quotes unless it is safe
// without them.
std::string quoted_yaml(std::string_view text);

}  // namespace spillway
