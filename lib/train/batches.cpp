#include "train/batches.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace spillway {
namespace {

// Rows of one sequence, which is one document: token i, its successor as target, weight one; or
// padding.
void fill_rows(TokenSet const& tokens, std::optional<std::int64_t> first_token,
               std::vector<std::int32_t>& window, std::int64_t row, BatchBuffers const& to) {
  if (first_token) {
    tokens.read(*first_token, window);
  } else {
    std::ranges::fill(window, 0);
  }
  auto const sequence = window.size() - 1;
  auto const rows = [&](auto const& field) {
    return field.subspan(static_cast<std::size_t>(row) * sequence, sequence);
  };
  std::ranges::copy(std::span(window).first(sequence), rows(to.get<BatchField::tokens>()).begin());
  std::ranges::copy(std::span(window).last(sequence), rows(to.get<BatchField::targets>()).begin());
  std::ranges::fill(rows(to.get<BatchField::weights>()), first_token ? 1.0f : 0.0f);
  if (auto const documents = to.get<BatchField::documents>(); !documents.empty())
    std::ranges::fill(rows(documents), first_token ? 0 : -1);
}

}  // namespace

std::int64_t BatchShape::micro_batches() const {
  return div_ceil(sequences, micro * ranks);
}

std::optional<std::int64_t> BatchShape::sample(std::int64_t micro_batch, std::int64_t row) const {
  auto const sample = (micro_batch * ranks + rank) * micro + row;
  if (sample >= sequences) return std::nullopt;
  return sample;
}

TrainBatches::TrainBatches(TokenSet const& tokens, DataOrder const& order, BatchShape shape,
                           SampleLog* log)
    : m_tokens(tokens),
      m_order(order),
      m_shape(shape),
      m_log(log),
      m_window(static_cast<std::size_t>(shape.sequence + 1)) {}

void TrainBatches::start_at(std::int64_t step, std::int64_t sample) {
  m_first_step = step;
  m_first_sample = sample;
}

void TrainBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  to.require_one_stack();
  auto const base = m_first_sample + (step - m_first_step) * m_shape.sequences;
  auto const samples = to.get<BatchField::samples>();
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const sample = m_shape.sample(micro_batch, row);
    std::optional<std::int64_t> first;
    if (sample) {
      auto const window = m_order.sample(base + *sample).window;
      first = m_order.first_token(window);
      if (m_log != nullptr) m_log->add(base + *sample, window);
    }
    fill_rows(m_tokens, first, m_window, row, to);
    if (!samples.empty()) samples[static_cast<std::size_t>(row)] = base + sample.value_or(0);
  }
}

EvalBatches::EvalBatches(TokenSet const& tokens, BatchShape shape, std::int64_t windows)
    : m_tokens(tokens),
      m_shape(shape),
      m_windows(windows),
      m_window(static_cast<std::size_t>(shape.sequence + 1)) {}

void EvalBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  to.require_one_stack();
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const sample = m_shape.sample(micro_batch, row);
    auto const window = step * m_shape.sequences + sample.value_or(0);
    std::optional<std::int64_t> first;
    if (sample && window < m_windows) first = window * m_shape.sequence;
    fill_rows(m_tokens, first, m_window, row, to);
  }
}

}  // namespace spillway
