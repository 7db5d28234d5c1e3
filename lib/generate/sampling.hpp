// Chooses tokens by their logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

struct Sampling {
  double temperature = 0.8;  // 0: the likeliest token
  std::uint64_t seed = 1;
};

// The token drawn from softmax(logits / temperature); `draw` counts the draws of this seed.
std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw);

// The `count` likeliest tokens, or all if there are fewer, with their part of softmax(logits); the
// likeliest comes first, and of equal ones that with the lower id.
struct Likely {
  std::int32_t token = 0;
  double probability = 0;
};
std::vector<Likely> likeliest(std::span<float const> logits, std::int64_t count);

}  // namespace spillway
