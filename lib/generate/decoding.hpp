// Says how a sequence passes the graphs that generate text: which tokens each step reads, and where
// the cache holds their keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "graph/graph.hpp"

namespace spillway {

// A prompt is read in steps of this many rows, so that weights are read from memory only once for
// all rows of a step.
inline constexpr std::int64_t kPromptRows = 64;

// Returns what the graphs run that generate `more` tokens after a prompt. The objective decides:
//   next    one graph for several rows of the prompt at a time, and one for a single row
//   masked  one graph for all rows of the prompt
//   spans   one for the encoder and the decoder's first row, and one for a further row
// The cache has room for the whole text or, if the model has fewer positions, for that many rows.
// Throws Error(bad_input) if the objective is `masked` and the prompt has more rows than the model
// has positions.
std::vector<Decoding> decodings(Config const& config, std::int64_t vocab, std::int64_t prompt,
                                std::int64_t more);

struct DecodeStep {
  bool of_prompt = false;     // true for the first graph, false for the second
  std::int64_t token = 0;     // the number of the first token that the step reads
  std::int64_t position = 0;  // the row of the cache for the first token
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

  // Returns the next step on the way to the logits after the first `tokens` tokens. The caller runs
  // such steps until has(tokens) is true.
  DecodeStep next(std::int64_t tokens);
  // Returns whether the steps so far have read all of the first `tokens` tokens, and no others.
  bool has(std::int64_t tokens) const { return m_first + m_kept == tokens; }

 private:
  std::int64_t m_rows, m_capacity;
  std::int64_t m_first = 0;  // the number of the token in row 0 of the cache
  std::int64_t m_kept = 0;   // how many rows the cache holds
};

}  // namespace spillway
