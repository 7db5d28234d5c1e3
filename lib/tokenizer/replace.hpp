// Replaces parts of texts, as the type "Replace" of normalizers and decoders does; only for this
// folder's sources.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tokenizer/json_node.hpp"

namespace spillway {

// Returns `text` with `to` for each `from`, which must not be empty.
std::string all_replaced(std::string_view text, std::string_view from, std::string_view to);

// Returns the function that a node with `pattern` and `content` describes. Any thread may call it.
// Throws Error(bad_input) that names a key which is wrong.
std::function<std::string(std::string const&)> read_replacement(JsonNode const& node);

}  // namespace spillway
