#include "train/random_batches.hpp"

#include "base/philox.hpp"

namespace spillway {

std::int32_t RandomBatches::token(std::int64_t sample, std::int64_t position) const {
  auto const word =
      philox(m_seed, static_cast<std::uint64_t>(sample), static_cast<std::uint64_t>(position)).x[0];
  return static_cast<std::int32_t>(word % static_cast<std::uint64_t>(m_vocab));
}

void RandomBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  to.require_one_stack();
  auto const tokens = to.get<BatchField::tokens>(), targets = to.get<BatchField::targets>();
  auto const weights = to.get<BatchField::weights>();
  auto const samples = to.get<BatchField::samples>();
  auto const documents = to.get<BatchField::documents>();
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const in_step = m_shape.sample(micro_batch, row);
    auto const sample = step * m_shape.sequences + in_step.value_or(0);
    for (std::int64_t i = 0; i < m_shape.sequence; ++i) {
      auto const at = static_cast<std::size_t>(row * m_shape.sequence + i);
      tokens[at] = token(sample, i);
      targets[at] = token(sample, i + 1);
      weights[at] = in_step ? 1.0f : 0.0f;
      if (!documents.empty()) documents[at] = in_step ? 0 : -1;
    }
    if (!samples.empty()) samples[static_cast<std::size_t>(row)] = sample;
  }
}

}  // namespace spillway
