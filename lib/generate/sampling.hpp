// Chooses tokens by their logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

struct Sampling {
  double temperature = 0.8;  // 0 means that the likeliest token is taken
  std::uint64_t seed = 1;
  std::int64_t top_k = 0;  // only so many of the likeliest tokens are drawn from; 0 means all
  // Of those, only the likeliest that together have this share of their probability; 1 means all.
  double top_p = 1;
};

// Draws a token from softmax(logits / temperature), or from the part of it that `top_k` and `top_p`
// leave. `draw` is the number of the draw: draws with
// the same seed and number use the same random number.
std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw);

// A Likely is a token with its probability in softmax(logits).
struct Likely {
  std::int32_t token = 0;
  double probability = 0;
};
// Returns the `count` likeliest tokens, or all if there are fewer, from the likeliest on. Of
// equally likely tokens, the one with the lower id comes first.
std::vector<Likely> likeliest(std::span<float const> logits, std::int64_t count);

}  // namespace spillway
