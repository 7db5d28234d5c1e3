// Makes the operands of a KernelHarness and gives them their contents.
#include "tests/support/kernel_harness.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "base/math.hpp"
#include "tests/support/element_bytes.hpp"
#include "tests/support/guarded.hpp"
#include "tests/support/view_positions.hpp"

namespace spillway::test {

View KernelHarness::tensor(DType dtype, Shape shape) {
  Tensor tensor;
  tensor.id = static_cast<TensorId>(m_graph.tensors.size());
  tensor.name = "tensor" + std::to_string(tensor.id);
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  m_contents.emplace_back(index(tensor.bytes()), kPoison);
  m_graph.tensors.push_back(tensor);
  return whole(tensor);
}

Chunk& KernelHarness::chunk(std::vector<std::int64_t> const& sizes, std::int64_t alignment) {
  Chunk chunk;
  chunk.id = 0;
  for (auto const size : sizes) {
    Parameter parameter;
    parameter.name = "parameter" + std::to_string(chunk.parameters.size());
    parameter.view = {-1, chunk.elements, {size}, {1}};
    parameter.decay = chunk.parameters.size() % 2 == 0;
    chunk.parameters.push_back(parameter);
    chunk.elements = round_up(chunk.elements + size, alignment);
  }
  m_graph.chunks = {chunk};
  return m_graph.chunks[0];
}

void KernelHarness::op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
                       Attributes attributes, std::vector<int> in_place) {
  m_op = Op{};
  m_op.id = m_op.origin = 0;
  m_op.kind = kind;
  m_op.chunk = m_graph.chunks.empty() ? -1 : 0;
  m_op.name = name(kind);
  m_op.inputs = std::move(inputs);
  m_op.outputs = std::move(outputs);
  m_op.attributes = std::move(attributes);
  m_op.in_place = std::move(in_place);
  // What these ops update they read as well, as the graph of a run says of each op.
  constexpr std::array updating = {OpKind::accumulate, OpKind::tree_sum, OpKind::adamw,
                                   OpKind::adamw_8bit, OpKind::lion,     OpKind::sgd,
                                   OpKind::adafactor,  OpKind::muon};
  if (std::ranges::find(updating, kind) == updating.end()) return;
  for (std::size_t i = 0; i < m_op.outputs.size(); ++i)
    if (is_present(m_op.outputs[i])) m_op.in_place.push_back(static_cast<int>(i));
}

void KernelHarness::set_all(View const& view, std::vector<double> const& values) {
  auto const dtype = m_graph.tensor(view).dtype;
  auto* const bytes = m_contents[index(view.tensor)].data();
  auto next = values.begin();
  for_each_position(view, [&](std::int64_t position) {
    write(bytes + position * size_bytes(dtype), dtype, *next++);
  });
}

void KernelHarness::set(View const& view, std::int64_t element, double value) {
  auto all = values(m_contents, view);
  all[index(element)] = value;
  set_all(view, all);
}

void KernelHarness::fill_normal(View const& view, double deviation, double mean) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values(index(element_count(view.shape)));
  std::generate(values.begin(), values.end(), [&] { return normal(random); });
  set_all(view, values);
}

void KernelHarness::fill_integers(View const& view, std::int64_t first, std::int64_t last) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  std::uniform_int_distribution<std::int64_t> uniform(first, last - 1);
  std::vector<double> values(index(element_count(view.shape)));
  std::generate(values.begin(), values.end(), [&] { return static_cast<double>(uniform(random)); });
  set_all(view, values);
}

void KernelHarness::fill_random_bits(View const& view) {
  std::mt19937_64 random(m_seed * 1000 + m_fills++);
  for (auto& byte : m_contents[index(view.tensor)]) byte = static_cast<std::byte>(random() >> 56);
}

}  // namespace spillway::test
