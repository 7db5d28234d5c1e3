// A TextStream makes text of ids that come one by one, as soon as it is certain.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.hpp"

namespace spillway {

// The texts that `add` and `end` return are, together, what Tokenizer::decode returns for all ids,
// less the text of those that `follow` was given.
class TextStream {
 public:
  TextStream(Tokenizer const& tokenizer, bool with_special)
      : m_tokenizer(tokenizer), m_with_special(with_special) {}

  // Takes ids as shown: those of the text that the stream goes on with.
  void follow(std::span<std::int32_t const> ids);
  // Returns the text that the id completes; "" while a character is incomplete.
  std::string add(std::int32_t id);
  std::string end();  // returns what was held back

 private:
  std::string text_behind_shown() const;

  Tokenizer const& m_tokenizer;
  bool m_with_special;
  // The latest ids. The first ones have been shown, and are kept because what a token is as text
  // depends on those before it.
  std::vector<std::int32_t> m_ids;
  std::size_t m_shown = 0;        // how many of m_ids
  std::size_t m_shown_bytes = 0;  // of the text of m_ids
};

}  // namespace spillway
