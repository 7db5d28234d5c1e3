// A post-processor puts special tokens around a text: the `post_processor` of a tokenizer.json;
// only for this folder's sources.
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/json_node.hpp"

namespace spillway {

struct AroundText {
  std::vector<std::int32_t> before, after;
};

// Returns what is put around a single text. Throws Error(bad_input) that names a key which is
// wrong, or a type that is not known.
AroundText read_post_processor(JsonNode const& node);

}  // namespace spillway
