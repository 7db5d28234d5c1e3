// The keys of config.json that are one of ours each, as tables; only for this folder's sources.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "huggingface/architecture.hpp"

namespace spillway {

// `fallback` is transformers' value where the key is absent, as JSON, for each of a table's
// architectures; empty: the architecture has no such key.
struct KeyRow {
  std::string_view theirs;
  std::string_view ours;  // in lib/config/keys.hpp; empty: only `fallback` is a model that we have
  std::vector<std::string_view> fallback;
  // What null says, given the keys of the rows above; no function: null says nothing.
  std::int64_t (*null)(ModelConfig const&) = nullptr;
};

struct KeyTable {
  std::vector<Architecture> columns;
  std::vector<KeyRow> rows;
};

// The table that has the architecture, and its column there.
struct KeyColumn {
  KeyTable const& table;
  std::size_t column;
};
KeyColumn key_column(Architecture architecture);

}  // namespace spillway
