// Computes the frequencies with which rotary position embeddings (RoPE) turn pairs of columns.
#pragma once

#include "graph/op.hpp"

namespace spillway {

// Holds the frequency of each pair of columns j and j + head_size/2, in radians per position. The
// array has a fixed size so that a copy of a kernel's functor contains it.
inline constexpr std::int64_t kMostRopePairs = 128;
struct RopeFrequencies {
  float of_pair[kMostRopePairs];
};

// Returns the frequencies as Hugging Face's transformers computes inv_freq in fp32: every step is
// rounded as transformers rounds it, except that the power is computed in fp64 and then rounded.
// Throws Error(bad_input), naming the op, if the head size is odd, below 2 or above 2 *
// kMostRopePairs, or if theta or the scaling is invalid.
RopeFrequencies rope_frequencies(Op const& op);

}  // namespace spillway
