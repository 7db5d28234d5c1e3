// The frequencies by which rotary positions turn pairs of columns.
#pragma once

#include "graph/op.hpp"

namespace spillway {

// In radians per position, of columns j and j + head_size/2. An array that a functor carries along.
inline constexpr std::int64_t kMostRopePairs = 128;
struct RopeFrequencies {
  float of_pair[kMostRopePairs];
};

// As transformers computes inv_freq in fp32: every step is rounded as there, but for the power
// itself, which is rounded from fp64. Throws Error(bad_input), naming the op, for sizes of heads
// that are odd or too large, and for scalings without meaning.
RopeFrequencies rope_frequencies(Op const& op);

}  // namespace spillway
