// Chooses tokens by their logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

struct Sampling {
  double temperature = 0.8;  // 0 means that the likeliest token is taken
  std::uint64_t seed = 1;
};

// Draws a token from softmax(logits / temperature). `draw` numbers the draws that use this seed.
std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw);

// Returns the `count` likeliest tokens, or all if there are fewer, with their probabilities in
// softmax(logits). The likeliest comes first. Of equally likely tokens, the one with the lower id
// comes first.
struct Likely {
  std::int32_t token = 0;
  double probability = 0;
};
std::vector<Likely> likeliest(std::span<float const> logits, std::int64_t count);

}  // namespace spillway
