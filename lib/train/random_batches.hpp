// Batches of random tokens, where nothing is to be learned and a step is only measured.
#pragma once

#include "runtime/batch_source.hpp"
#include "train/batches.hpp"

namespace spillway {

// Every token is drawn evenly from [0, vocab); each row's target is its successor's token.
class RandomBatches final : public BatchSource {
 public:
  RandomBatches(BatchShape shape, std::int64_t vocab, std::uint64_t seed)
      : m_shape(shape), m_vocab(vocab), m_seed(seed) {}
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  std::int32_t token(std::int64_t sample, std::int64_t position) const;

  BatchShape m_shape;
  std::int64_t m_vocab;
  std::uint64_t m_seed;
};

}  // namespace spillway
