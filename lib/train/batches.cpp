#include "train/batches.hpp"

#include <utility>

#include "base/math.hpp"

namespace spillway {
namespace {

Recipe for_evaluation(Recipe recipe) {
  recipe.seed = 0;
  return recipe;
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

TrainBatches::TrainBatches(TokenSet const& tokens, DataOrder const& order, Recipe recipe,
                           BatchShape shape, SampleLog* log)
    : m_reader(tokens, std::move(recipe)), m_order(order), m_shape(shape), m_log(log) {}

void TrainBatches::start_at(std::int64_t step, std::int64_t sample) {
  m_first_step = step;
  m_first_sample = sample;
}

void TrainBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  auto const base = m_first_sample + (step - m_first_step) * m_shape.sequences;
  auto const samples = to.get<BatchField::samples>();
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const sample = m_shape.sample(micro_batch, row);
    auto const number = base + sample.value_or(0);
    std::optional<std::int64_t> first;
    if (sample) {
      auto const window = m_order.sample(number).window;
      first = m_order.first_token(window);
      if (m_log != nullptr) m_log->add(number, window);
    }
    m_reader.read(first, number, m_shape.micro, row, to);
    if (!samples.empty()) samples[static_cast<std::size_t>(row)] = number;
  }
}

EvalBatches::EvalBatches(TokenSet const& tokens, Recipe recipe, BatchShape shape,
                         std::int64_t windows)
    : m_reader(tokens, for_evaluation(std::move(recipe))), m_shape(shape), m_windows(windows) {}

void EvalBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const sample = m_shape.sample(micro_batch, row);
    auto const window = step * m_shape.sequences + sample.value_or(0);
    std::optional<std::int64_t> first;
    if (sample && window < m_windows) first = window * m_reader.recipe().window;
    m_reader.read(first, window, m_shape.micro, row, to);
  }
}

}  // namespace spillway
