// Says how a sequence passes the graphs that generate text: which tokens each step reads, and where
// the cache holds their keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "graph/graph.hpp"

namespace spillway {

// A prompt is read this many rows at a time, so that they share the memory traffic of the weights.
inline constexpr std::int64_t kPromptRows = 64;

// Returns the graphs that generate `more` tokens after a prompt. The first one reads the prompt:
//   next    several rows at a time, then one row at a time
//   masked  all rows of the prompt at once
//   spans   the encoder over the prompt and the decoder's first row, then the decoder's other rows
// The cache has room for the whole text or, if the model has fewer positions, for that many rows.
// Throws Error(bad_input) if a prompt that must be read at once has more rows than the model has
// positions.
std::vector<Decoding> decodings(Config const& config, std::int64_t vocab, std::int64_t prompt,
                                std::int64_t more);

struct DecodeStep {
  bool of_prompt = false;     // true for the first graph, false for the second
  std::int64_t token = 0;     // the number of the first token that the step reads
  std::int64_t position = 0;  // the position in the cache of the row of this token
  std::int64_t rows = 0;
};

// A DecodeOrder says by which steps tokens get into the cache. When the cache is full, the latest
// tokens, half as many as the cache may hold, are read again from position 0 on, and the text goes
// on from there.
class DecodeOrder {
 public:
  // `of_prompt` describes the first graph. The second graph reads one row per step.
  explicit DecodeOrder(Decoding const& of_prompt)
      : m_rows(of_prompt.rows), m_capacity(of_prompt.capacity) {}

  // Returns the next step towards the logits after `tokens` tokens. Call it until has(tokens) is
  // true.
  DecodeStep next(std::int64_t tokens);
  // Returns whether the steps so far have read all of the first `tokens` tokens.
  bool has(std::int64_t tokens) const { return m_first + m_kept == tokens; }

 private:
  std::int64_t m_rows, m_capacity;
  std::int64_t m_first = 0;  // the number of the token at position 0
  std::int64_t m_kept = 0;   // how many rows the cache holds
};

}  // namespace spillway
