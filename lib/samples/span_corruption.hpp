// In span corruption, spans of tokens are removed from the input of the encoder, and the decoder
// learns to predict them (T5; Raffel et al., arXiv:1910.10683).
#pragma once

#include <cstdint>

#include "runtime/batch_source.hpp"
#include "samples/objectives.hpp"

namespace spillway {

// A SpanRoom counts the rows that are left in the encoder and the decoder for more documents.
class SpanRoom {
 public:
  explicit SpanRoom(Recipe const& recipe);

  // Returns how many of the first tokens of a document fit, or 0 if fewer than two do.
  std::int64_t fitting(std::int64_t tokens) const;
  // Takes the rows of as many tokens as fit, and returns that number.
  std::int64_t take(std::int64_t tokens);

 private:
  std::int64_t m_inputs, m_targets;
  std::int64_t m_end;  // the rows of the token that ends a document
};

// Corrupts each document of the window by itself or, if documents are not kept apart, the whole
// window as one document:
//   encoder  kept S0 kept S1 ... eos     decoder's targets  S0 noise S1 noise ... eos
// Sentinels S count down. The decoder's tokens are pad and then its targets, one row later. Tokens
// that do not fit the rows, and documents of one token, are left out. Rows that are not filled stay
// as they are.
void predict_spans(Recipe const& recipe, Window const& window, std::int64_t sample,
                   BatchBuffers const& to);

}  // namespace spillway
