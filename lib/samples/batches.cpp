#include "samples/batches.hpp"

#include <utility>

namespace spillway {
namespace {

Recipe for_evaluation(Recipe recipe) {
  recipe.seed = 0;
  return recipe;
}

}  // namespace

TrainBatches::TrainBatches(std::vector<TextOrder> texts, Recipe const& recipe, BatchShape shape,
                           SampleLog* log)
    : m_recipe(recipe), m_shape(std::move(shape)), m_log(log) {
  m_texts.reserve(texts.size());
  for (auto& text : texts) {
    SampledText const& sampled = text.text;
    m_texts.push_back({std::move(text), SequenceReader(sampled.tokens, sampled.windows, recipe)});
  }
}

std::size_t TrainBatches::text_of(std::int64_t sample) const {
  std::size_t text = 0;
  while (sample >= m_texts[text].from.end) ++text;
  return text;
}

std::int64_t TrainBatches::tokens_of(std::int64_t first_sample, std::int64_t samples) const {
  std::int64_t tokens = 0;
  for (auto sample = first_sample; sample < first_sample + samples; ++sample) {
    auto const& from = m_texts[text_of(sample)].from;
    auto const window = from.order.sample(sample).window;
    tokens += from.text.windows.used_tokens(from.text.tokens, window, 1);
  }
  return tokens;
}

// Returns the number of a window of `text` in the log: that of the window of data.train in which
// its first token lies, since windows of text that completes an earlier epoch may begin elsewhere.
// Windows of unequal length are numbered by their first token.
std::int64_t TrainBatches::window_of_all(TextOrder const& text, std::int64_t first_token) const {
  auto const file = text.text.tokens.file_of(first_token);
  auto const start = text.text.tokens.start_of(file);
  auto const there = text.starts.empty() ? start : text.starts[file];
  return (first_token - start + there) / (cuts_where_full(m_recipe) ? 1 : m_recipe.window);
}

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
    auto& text = m_texts[text_of(number)];
    std::optional<TextWindow> window;
    if (sample) {
      auto const [epoch, index] = text.from.order.sample(number);
      window = text.reader.window(index);
      if (m_log != nullptr) m_log->add({number, window_of_all(text.from, window->first), epoch});
    }
    text.reader.read(window, number, m_shape.micro, row, to);
    if (!samples.empty()) samples[static_cast<std::size_t>(row)] = number;
  }
}

EvalBatches::EvalBatches(SampledText const& text, Recipe recipe, BatchShape shape,
                         std::int64_t windows)
    : m_reader(text.tokens, text.windows, for_evaluation(std::move(recipe))),
      m_text(text.windows),
      m_shape(std::move(shape)),
      m_windows(windows) {}

void EvalBatches::load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) {
  for (std::int64_t row = 0; row < m_shape.micro; ++row) {
    auto const sample = m_shape.sample(micro_batch, row);
    auto const window = step * m_shape.sequences + sample.value_or(0);
    std::optional<TextWindow> text;
    if (sample && window < m_windows) text = m_reader.window(window);
    m_reader.read(text, text ? m_text.number_in_part(window) : 0, m_shape.micro, row, to);
  }
}

}  // namespace spillway
