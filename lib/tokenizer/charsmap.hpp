// A Charsmap replaces characters, as SentencePiece's precompiled_charsmap says; only for this
// folder's sources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/json_node.hpp"

namespace spillway {

class Charsmap {
 public:
  // `node` is the map in base64. Throws Error(bad_input) that names the node if it is damaged.
  explicit Charsmap(JsonNode const& node);

  // Returns valid UTF-8 with its characters, or short graphemes, replaced.
  std::string replaced(std::string_view text) const;

 private:
  std::optional<std::string_view> replacement(std::string_view characters) const;

  std::vector<std::uint32_t> m_units;  // a double array, as Darts builds it
  std::string m_replacements;          // texts, each with a zero behind it
};

}  // namespace spillway
