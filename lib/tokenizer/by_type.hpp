// Chooses by its "type" how a part of a tokenizer.json is read; only for this folder's sources.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/json_node.hpp"

namespace spillway {

template <class Made>
struct OneType {
  std::string_view type;
  Made (*read)(JsonNode const& node);
};
template <class Made>
using ByType = std::vector<OneType<Made>>;

// Returns what the table's function for `type` makes of the node. Throws Error(bad_input) that
// names the node and lists the types if this one is not in the table.
template <class Made>
Made read_by_type(ByType<Made> const& table, std::string_view type, JsonNode const& node) {
  std::string known;
  for (auto const& one : table) {
    if (one.type == type) return one.read(node);
    known.append(known.empty() ? "" : ", ").append(one.type);
  }
  node.refuse(fmt::format("type '{}' is not known here; these are: {}", type, known));
}

}  // namespace spillway
