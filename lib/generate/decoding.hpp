// How a sequence passes the graphs that generate: which tokens a step brings, and where the cache
// has their keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "graph/graph.hpp"

namespace spillway {

// A prompt is read so many rows at a time, which share the traffic of the weights.
inline constexpr std::int64_t kPromptRows = 64;

// The graphs that take a prompt and `more` tokens after it; the first reads the prompt.
//   next    several rows at a time, then a row at a time
//   masked  all rows of the prompt at once
//   spans   the encoder over the prompt with the decoder's first row, then the decoder's other rows
// The cache has room for the whole text or, if the model has positions for fewer rows, for these.
// Throws Error(bad_input) if a prompt that is read at once has more rows than positions.
std::vector<Decoding> decodings(Config const& config, std::int64_t vocab, std::int64_t prompt,
                                std::int64_t more);

struct DecodeStep {
  bool of_prompt = false;     // run by the first graph, else by the second
  std::int64_t token = 0;     // number of the first token that the step brings
  std::int64_t position = 0;  // of its row in the cache
  std::int64_t rows = 0;
};

// The steps that bring tokens to the cache, in order. When the cache is full, the last half of what
// it may hold is read again from position 0, and the text goes on from there.
class DecodeOrder {
 public:
  // Of the first graph; the second brings one row.
  explicit DecodeOrder(Decoding const& of_prompt)
      : m_rows(of_prompt.rows), m_capacity(of_prompt.capacity) {}

  // The next step on the way to the logits after so many tokens, all of which were not there yet.
  DecodeStep next(std::int64_t tokens);
  // Whether the last step brought the last of them.
  bool has(std::int64_t tokens) const { return m_first + m_kept == tokens; }

 private:
  std::int64_t m_rows, m_capacity;
  std::int64_t m_first = 0;  // number of the token at position 0
  std::int64_t m_kept = 0;   // rows that the cache holds
};

}  // namespace spillway
