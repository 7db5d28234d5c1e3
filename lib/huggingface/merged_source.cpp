#include "huggingface/merged_source.hpp"

#include <utility>

#include "model/adapters.hpp"

namespace spillway {
namespace {

constexpr std::string_view kWeight = ".weight";

TensorList without_adapters(TensorList const& tensors) {
  std::vector<TensorEntry> entries;
  for (auto const& entry : tensors)
    if (!adapted_layer(entry.name)) entries.push_back(entry);
  return as_floats(TensorList(std::move(entries)));
}

// Returns a matrix of so many rows with a row for each of its columns.
std::vector<float> transposed(std::vector<float> const& matrix, std::int64_t rows) {
  std::vector<float> result(matrix.size());
  auto const count = static_cast<std::size_t>(rows), columns = matrix.size() / count;
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      result[column * count + row] = matrix[row * columns + column];
  return result;
}

}  // namespace

MergedSource::MergedSource(TensorSource& weights, ModelConfig const& model)
    : m_weights(weights),
      m_rank(model.lora.rank),
      m_factor(static_cast<float>(model.lora.alpha / static_cast<double>(model.lora.rank))),
      m_inputs_first(model.family == Family::gpt),
      m_tensors(without_adapters(weights.tensors())),
      m_loaded(m_tensors.size()) {}

std::size_t MergedSource::number(std::size_t tensor) const {
  return *m_weights.tensors().find(m_tensors[tensor].name);
}

TensorRange MergedSource::verified_range(std::size_t tensor, TensorRange range) const {
  return m_weights.verified_range(number(tensor), range);
}

std::vector<float> MergedSource::values(std::string const& name) {
  auto const number = *m_weights.tensors().find(name);
  std::vector<float> all(static_cast<std::size_t>(element_count(m_weights.tensors()[number])));
  read_floats(m_weights, number, 0, all);
  return all;
}

void MergedSource::load_factors(std::size_t tensor) {
  if (m_loaded == tensor) return;
  m_loaded = tensor;
  m_factors = {};
  auto const& name = m_tensors[tensor].name;
  if (!name.ends_with(kWeight)) return;
  auto const layer = name.substr(0, name.size() - kWeight.size());
  if (m_weights.tensors().find(adapter_a(layer)))
    m_factors = {transposed(values(adapter_a(layer)), m_rank), values(adapter_b(layer))};
}

void MergedSource::read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) {
  load_factors(tensor);
  auto const floats = floats_of(to);
  read_floats(m_weights, number(tensor), first, floats);
  if (!m_factors.a.empty()) add_product(tensor, first, floats);
}

// Adds factor B A to elements of the matrix [outputs, inputs], or of its transpose.
void MergedSource::add_product(std::size_t tensor, std::int64_t first, std::span<float> to) const {
  auto const& shape = m_tensors[tensor].shape;
  for (std::int64_t i = 0; i < std::ssize(to); ++i) {
    auto const row = (first + i) / shape[1], column = (first + i) % shape[1];
    auto const output = m_inputs_first ? column : row, input = m_inputs_first ? row : column;
    float sum = 0;
    for (std::int64_t r = 0; r < m_rank; ++r)
      sum += m_factors.b[static_cast<std::size_t>(output * m_rank + r)] *
             m_factors.a[static_cast<std::size_t>(input * m_rank + r)];
    to[static_cast<std::size_t>(i)] += m_factor * sum;
  }
}

}  // namespace spillway
