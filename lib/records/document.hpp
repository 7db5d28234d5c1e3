// A Document is a text of which tokens are made.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spillway {

struct TextRange {
  std::size_t begin, end;  // in bytes

  bool operator==(TextRange const&) const = default;
};

struct Document {
  std::string text;
  // The tokens of these ranges, in ascending order, are learned, and the others only seen. Without
  // them all are learned.
  std::optional<std::vector<TextRange>> learned = {};
  // No special token may reach over these places, in ascending order: what stands there was written
  // by somebody else than the template.
  std::vector<std::size_t> barriers = {};
  bool is_begun = false;  // says whether what the tokenizer puts before a text belongs to it
  bool is_ended = false;  // says whether the token that ends texts belongs to it
};

}  // namespace spillway
