// Makes batches of random tokens for steps that are only measured.
#pragma once

#include "runtime/batch_source.hpp"
#include "samples/batches.hpp"

namespace spillway {

// Tokens of every stack are drawn evenly from [0, vocab), and the target of each row is the next
// row's token. The objective does not matter, since it does not change how long a step takes.
// `lengths` has the number of rows of a sequence in every stack.
class RandomBatches final : public BatchSource {
 public:
  RandomBatches(BatchShape shape, std::span<std::int64_t const> lengths, std::int64_t vocab,
                std::uint64_t seed)
      : m_shape(shape),
        m_sequence(lengths),
        m_stacks(static_cast<int>(lengths.size())),
        m_vocab(vocab),
        m_seed(seed) {}
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  std::int32_t token(std::int64_t sample, std::int64_t position) const;
  void fill(int stack, std::int64_t sample, bool padding);

  BatchShape m_shape;
  SequenceBuffer m_sequence;
  int m_stacks;
  std::int64_t m_vocab;
  std::uint64_t m_seed;
};

}  // namespace spillway
