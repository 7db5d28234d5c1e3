#include <algorithm>

#include "base/math.hpp"
#include "graph/build.hpp"
#include "graph/optimizers/update_rule.hpp"
#include "graph/refuse.hpp"

namespace spillway {
namespace {

TensorId append_tensor(Graph& graph, Tensor tensor) {
  check_size(tensor);
  tensor.id = static_cast<TensorId>(graph.tensors.size());
  graph.tensors.push_back(std::move(tensor));
  return graph.tensors.back().id;
}

// Returns State::parts of a state, of which those with elements begin at aligned offsets.
std::vector<ElementRange> parts_of(Graph const& graph, Chunk const& chunk, StateRow const& row) {
  std::vector<ElementRange> parts;
  if (row.elements == nullptr) return parts;
  std::int64_t end = 0;
  for (auto const elements : row.elements(graph, chunk)) {
    auto const first = elements > 0 ? round_up(end, kParameterAlignment) : end;
    end = first + elements;
    parts.push_back({first, end});
  }
  return parts;
}

void append_training_tensors(Graph& graph, Chunk& chunk) {
  auto const append = [&](std::string const& what, Role role, DType dtype, std::int64_t block = 1) {
    return append_tensor(graph, {.name = chunk.name + "." + what,
                                 .role = role,
                                 .dtype = dtype,
                                 .shape = {div_exact(chunk.elements, block)},
                                 .block = chunk.block,
                                 .chunk = chunk.id,
                                 .persistent = role != Role::gradient});
  };
  auto const& arithmetic = graph.arithmetic;
  chunk.gradient = append("gradient", Role::gradient, stored_dtype(arithmetic.gradients));
  for (StateRow const& row : update_rule(graph.optim.name).states) {
    std::string const name(row.name);
    auto const dtype = row.dtype(arithmetic, graph.optim);
    if (!dtype) continue;
    auto const parts = parts_of(graph, chunk, row);
    bool const is_empty = !parts.empty() && parts.back().last == 0;
    if (is_empty) continue;
    auto const tensor = append(name, row.role, *dtype, row.block);
    if (!parts.empty()) graph.tensors[tensor].shape = {parts.back().last};
    chunk.states.push_back({name, tensor, parts});
  }
}

// Returns true if a step may still read tensors of this role while the next step's are being
// written.
bool is_versioned(Role role) {
  return role == Role::batch || role == Role::scalar;
}

}  // namespace

void GraphBuilder::begin_block(std::string const& name, bool layer) {
  if (m_block >= 0) refuse_graph(name, "", "begins in an open block");
  m_block = static_cast<int>(m_graph.blocks.size());
  int const first = static_cast<int>(m_graph.ops.size());
  m_graph.blocks.push_back({name, first, first, layer});
}

void GraphBuilder::end_block() {
  require_open_block("the end of a block");
  m_graph.blocks.back().last_op = static_cast<int>(m_graph.ops.size());
  m_block = -1;
}

void GraphBuilder::require_open_block(std::string const& name) const {
  if (m_block < 0) refuse_graph(name, "", "belongs to a block, and none is open");
}

std::string GraphBuilder::full_name(std::string const& name) const {
  return m_block < 0 ? name : m_graph.blocks.back().name + "/" + name;
}

int GraphBuilder::add_chunk(std::string const& name, bool trainable) {
  require_open_block(name);
  Chunk chunk;
  chunk.id = static_cast<int>(m_graph.chunks.size());
  chunk.name = name;
  chunk.block = m_block;
  chunk.trainable = trainable;
  chunk.parameter = append_tensor(m_graph, {.name = name + ".parameter",
                                            .role = Role::parameter,
                                            .dtype = stored_dtype(m_graph.arithmetic.precision),
                                            .shape = {0},
                                            .block = m_block,
                                            .chunk = chunk.id,
                                            .persistent = true});
  m_graph.chunks.push_back(std::move(chunk));
  return m_graph.chunks.back().id;
}

View GraphBuilder::add_parameter(int chunk, std::string const& name, Shape shape, Init init,
                                 bool decay) {
  return add_fused(chunk, {{name, std::move(shape), init}}, decay);
}

View GraphBuilder::add_fused(int chunk_id, std::vector<NewParameter> const& parameters,
                             bool decay) {
  auto& chunk = m_graph.chunks[chunk_id];
  auto const first = chunk.elements;
  Shape all = parameters.front().shape;
  all.front() = 0;
  for (auto const& [name, shape, init] : parameters) {
    if (!std::equal(shape.begin() + 1, shape.end(), all.begin() + 1, all.end()))
      refuse_graph(name, "", "has rows of another length than what it is to be fused with");
    check_size({.name = name, .dtype = DType::f64, .shape = shape});
    View const flat{chunk.parameter, chunk.elements, {element_count(shape)}, {1}};
    chunk.parameters.push_back({name, reshaped(flat, shape), init, decay});
    chunk.elements += element_count(shape);
    all.front() += shape.front();
  }
  View const flat{chunk.parameter, first, {chunk.elements - first}, {1}};
  chunk.elements = round_up(chunk.elements, parameter_alignment(m_graph.optim.name));
  return reshaped(flat, std::move(all));
}

View GraphBuilder::add_quantized(int chunk_id, std::string const& name, Quantized const& quantized,
                                 Init init) {
  auto& chunk = m_graph.chunks[chunk_id];
  check_size({.name = name, .dtype = DType::f64, .shape = quantized.shape});
  auto const bytes = quantized_bytes(quantized.form, quantized.rows(), quantized.columns()).all;
  View const view{chunk.parameter, chunk.elements, {bytes}, {1}};
  chunk.parameters.push_back({name, view, init, false, quantized});
  chunk.elements = round_up(chunk.elements + bytes, parameter_alignment(m_graph.optim.name));
  return view;
}

View GraphBuilder::add_tensor(std::string const& name, Role role, DType dtype, Shape shape) {
  auto const id = append_tensor(m_graph, {.name = full_name(name),
                                          .role = role,
                                          .dtype = dtype,
                                          .shape = std::move(shape),
                                          .block = m_block,
                                          .persistent = role == Role::cache,
                                          .versions = is_versioned(role) ? 2 : 1});
  return whole(m_graph.tensors[id]);
}

View GraphBuilder::add_batch(BatchField field, Stack const& stack) {
  auto const& [_, name, dtype, extent] = row_of(field);
  auto const micro = m_graph.arithmetic.micro;
  auto const elements = extent == BatchExtent::one         ? 1
                        : extent == BatchExtent::sequences ? micro
                                                           : micro * stack.sequence;
  auto const suffix = stack.number == 0 ? "" : "." + std::to_string(stack.number);
  auto const view = add_tensor(std::string(name) + suffix, Role::batch, dtype, {elements});
  m_graph.known.batch.push_back({field, stack.number, view.tensor});
  return view;
}

void GraphBuilder::append_op(std::string const& name, Op op, Attributes attributes, double flops) {
  require_open_block(name);
  op.id = op.origin = static_cast<int>(m_graph.ops.size());
  op.block = m_block;
  op.name = full_name(name);
  check_operands(op);
  op.attributes = std::move(attributes);
  op.flops = flops;
  // The loss is summed over a step's micro-batches, so the op adds to it and never overwrites it.
  set_in_place(op, m_graph.known.loss, true);
  m_graph.ops.push_back(std::move(op));
}

void GraphBuilder::finish() {
  if (m_block >= 0) refuse_graph(m_graph.blocks.back().name, "", "is still open");
  int trainable = 0;
  for (auto& chunk : m_graph.chunks) {
    auto& parameter = m_graph.tensors[chunk.parameter];
    parameter.shape = {chunk.elements};
    check_size(parameter);
    if (m_graph.purpose != Purpose::train || !chunk.trainable) continue;
    append_training_tensors(m_graph, chunk);
    chunk.norm = trainable++;
  }
  if (m_graph.purpose != Purpose::train) return;
  m_graph.known.norms =
      add_tensor("norms", Role::scalar, DType::f64, {trainable, m_graph.arithmetic.ranks}).tensor;
  m_graph.known.control = add_tensor("control", Role::scalar, DType::f64, {kControlWords}).tensor;
}

}  // namespace spillway
