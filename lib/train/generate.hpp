// Samples from a model, one token at a time. The whole window is run again for every token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/batch_source.hpp"

namespace spillway {

// The window that the generate Program reads: the last `sequence` tokens, and which row is the
// last.
class GenerateBatch final : public BatchSource {
 public:
  explicit GenerateBatch(std::int64_t sequence) : m_sequence(sequence) {}
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

  std::vector<std::int32_t> tokens;  // all so far, at least one

 private:
  std::int64_t m_sequence;
};

struct Sampling {
  double temperature = 0.8;  // 0: the likeliest token
  std::uint64_t seed = 1;
};

// The token drawn from softmax(logits / temperature); `draw` counts the draws of this seed.
std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw);

}  // namespace spillway
