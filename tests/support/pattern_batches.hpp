// Makes batches from a repetitive text, which a model can learn to continue.
#pragma once

#include <algorithm>
#include <numeric>

#include "runtime/batch_source.hpp"
#include "tests/support/batches.hpp"

namespace spillway::test {

// Sample s is the sequence that begins s tokens into the text. The first micro-batch of a step
// begins with sample `first`, the others continue where the one before ended, and all steps have
// the same samples. Ranks pass different numbers as `first`.
class PatternBatches final : public BatchSource {
 public:
  explicit PatternBatches(Graph const& graph, std::int64_t first = 0)
      : m_micro(graph.arithmetic.micro),
        m_words(std::min<std::int64_t>(19, vocabulary(graph))),
        m_first(first) {}

  void load(std::int64_t, std::int64_t micro_batch, BatchBuffers const& to) override {
    auto const first = m_first + micro_batch * m_micro;
    for (int stack = 0; stack < 2; ++stack) {
      fill(to.get<BatchField::tokens>(stack), first);
      fill(to.get<BatchField::targets>(stack), first + 1);
      std::ranges::fill(to.get<BatchField::weights>(stack), 1.0f);
      fill_documents(to.get<BatchField::documents>(stack), m_micro, first);
      fill_positions(to.get<BatchField::positions>(stack), m_micro, first);
      std::ranges::fill(to.get<BatchField::token_types>(stack), 0);
    }
    auto const samples = to.get<BatchField::samples>();  // dropout depends on the sample numbers
    std::iota(samples.begin(), samples.end(), first);
  }

 private:
  // Writes `m_micro` sequences of the text. The k-th sequence begins first + k tokens into it.
  void fill(std::span<std::int32_t> tokens, std::int64_t first) const {
    auto const sequence = static_cast<std::int64_t>(tokens.size()) / m_micro;
    for (std::size_t row = 0; row < tokens.size(); ++row) {
      auto const at = static_cast<std::int64_t>(row);
      auto const i = first + at / sequence + at % sequence;
      tokens[row] = static_cast<std::int32_t>(i * i % m_words);
    }
  }

  std::int64_t m_micro, m_words, m_first;
};

}  // namespace spillway::test
