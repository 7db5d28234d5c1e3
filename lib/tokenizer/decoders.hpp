// Decoders make text of tokens: the `decoder` of a tokenizer.json; only for this folder's sources.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tokenizer/json_node.hpp"

namespace spillway {

// A Decoder changes the texts of a row of tokens, which are joined after the last one. Any thread
// may call it.
using Decoder = std::function<void(std::vector<std::string>& tokens)>;

// Reads the `decoder` of a tokenizer.json as the functions that it consists of, in their order.
// Throws Error(bad_input) that names a key which is wrong, or a type that is not known.
std::vector<Decoder> read_decoders(JsonNode const& node);

}  // namespace spillway
