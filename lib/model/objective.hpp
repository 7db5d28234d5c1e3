// An objective is what a model learns to predict. It decides how many rows the model's stacks need.
#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"

namespace spillway {

// Returns the rows of a sequence in each stack: data.sequence and, for spans, the decoder's
// data.target. If data.target is `auto`, the decoder has as many rows as the spans of data.sequence
// need. Throws Error(bad_input) for keys of `data` that belong to another objective, and for
// lengths in which no span has room.
std::vector<std::int64_t> stack_lengths(DataConfig const& data, Objective objective);

// Says how many tokens are hidden as noise, and in how many spans. `span_counts` hides 15 % of the
// `tokens`, of which there must be at least 2, in spans of three on average.
struct SpanCounts {
  std::int64_t noise = 0, spans = 0;
};
SpanCounts span_counts(std::int64_t tokens);

// Returns the largest number of tokens that fits `inputs` rows of the encoder and `targets` rows of
// the decoder when spans are hidden, or 0 if not even 2 fit. Each stack has one row for the
// sequence's end.
std::int64_t span_window(std::int64_t inputs, std::int64_t targets);

}  // namespace spillway
