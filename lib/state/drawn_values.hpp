// Draws what parameters begin with.
#pragma once

#include <cstdint>
#include <span>

#include "graph/graph.hpp"

namespace spillway {

inline constexpr std::int64_t kDrawnAtOnce = 1 << 16;  // elements

// Names the random numbers of a parameter.
struct DrawsOf {
  std::uint64_t seed, parameter;
};

// Fills `values` with what a parameter begins with, from its element `first` on, which must be
// even.
void fill_drawn(std::span<float> values, Init const& init, DrawsOf const& draws,
                std::int64_t first);

}  // namespace spillway
