#include "samples/random_batches.hpp"

#include <algorithm>

#include "base/philox.hpp"

namespace spillway {

std::int32_t RandomBatches::token(std::int64_t sample, std::int64_t position) const {
  auto const word =
      philox(m_seed, static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(position)).x[0];
  return static_cast<std::int32_t>(word % static_cast<std::uint64_t>(m_vocab));
}

void RandomBatches::fill(int stack, std::int64_t sample, bool padding) {
  auto const& to = m_sequence.fields();
  auto const tokens = to.get<BatchField::tokens>(stack),
             targets = to.get<BatchField::targets>(stack);
  auto const positions = to.get<BatchField::positions>(stack);
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    auto const position = static_cast<std::int64_t>(row);
    tokens[row] = token(sample, position);
    targets[row] = token(sample, position + 1);
    positions[row] = static_cast<std::int32_t>(position);
  }
  std::ranges::fill(to.get<BatchField::weights>(stack), padding ? 0.0f : 1.0f);
  std::ranges::fill(to.get<BatchField::documents>(stack), padding ? -1 : 0);
}

void RandomBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  auto const samples = to.get<BatchField::samples>();
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const in_step = m_shape.sample(micro_batch, row);
    auto const sample = step * m_shape.sequences + in_step.value_or(0);
    for (int stack = 0; stack < m_stacks; ++stack) fill(stack, sample, !in_step);
    m_sequence.copy_to(to, m_shape.micro, row);
    if (!samples.empty()) samples[static_cast<std::size_t>(row)] = sample;
  }
}

}  // namespace spillway
