// Chooses by its "type" how a part of a tokenizer.json is read; only for this folder's sources.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
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

// Returns what `read` makes of the elements of a list, one behind the other.
template <class Made>
std::vector<Made> read_sequence(JsonNode const& list, std::vector<Made> (*read)(JsonNode const&)) {
  std::vector<Made> all;
  for (auto const& node : list.elements())
    for (auto& made : read(node)) all.push_back(std::move(made));
  return all;
}

}  // namespace spillway
