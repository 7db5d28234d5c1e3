#include "train/batches.hpp"

#include <utility>

#include "base/math.hpp"
#include "train/objectives.hpp"

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

SequenceReader::SequenceReader(TokenSet const& tokens, Recipe recipe)
    : m_tokens(tokens),
      m_recipe(std::move(recipe)),
      m_window(static_cast<std::size_t>(m_recipe.window + 1)),
      m_sequence(m_recipe.lengths) {
  m_starts.reserve(m_window.size());
}

void SequenceReader::read(std::optional<std::int64_t> first_token, std::int64_t sample,
                          std::int64_t micro, std::int64_t row, BatchBuffers const& to) {
  if (first_token) {
    m_tokens.read(*first_token, m_window);
    m_starts.clear();
    auto const end = *first_token + std::ssize(m_window);
    if (m_recipe.pack) m_tokens.append_document_starts(*first_token + 1, end, m_starts);
    for (auto& start : m_starts) start -= *first_token;
    make_sequence(m_recipe, {m_window, m_starts}, sample, m_sequence.fields());
  } else {
    make_padding(m_recipe, m_sequence.fields());
  }
  m_sequence.copy_to(to, micro, row);
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
