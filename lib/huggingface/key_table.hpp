// Lists the keys of config.json that each mean one key of ours; only for this folder's sources.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "huggingface/architecture.hpp"

namespace spillway {

// A KeyRow is a key of config.json. For each architecture of the table, `fallback` is transformers'
// value, as JSON, where the key is absent, or empty if the architecture has no such key.
struct KeyRow {
  std::string_view theirs;
  // This is a key of lib/config/keys.hpp. If it is empty, `fallback` is the only value that is
  // supported.
  std::string_view ours;
  std::vector<std::string_view> fallback;
  // Returns what null means, given the keys of the rows above. A row without this function refuses
  // null.
  std::int64_t (*null)(ModelConfig const&) = nullptr;
};

struct KeyTable {
  std::vector<Architecture> columns;
  std::vector<KeyRow> rows;
};

// A KeyColumn is the table that has an architecture, and the architecture's column in it.
struct KeyColumn {
  KeyTable const& table;
  std::size_t column;
};
KeyColumn key_column(Architecture architecture);

}  // namespace spillway
