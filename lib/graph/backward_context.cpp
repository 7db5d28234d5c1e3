#include <algorithm>
#include <utility>

#include "graph/build.hpp"
#include "graph/gradient_map.hpp"
#include "graph/refuse.hpp"

namespace spillway {
namespace {

View on(View view, TensorId tensor) {
  view.tensor = tensor;
  return view;
}

}  // namespace

bool BackwardContext::wants(View const& input) const {
  return is_present(input) && m_gradients.wants(input.tensor);
}

View BackwardContext::incoming(View const& output) const {
  auto const& tensor = m_graph.tensor(output);
  if (!m_gradients.is_complete(tensor))
    refuse_graph(m_forward.name, tensor.name, "parts of it are used and others are not");
  return on(output, *m_gradients.tensor_of(output.tensor));
}

// Returns an output for a gradient that the op writes but nobody reads.
View BackwardContext::unused(View const& input) {
  if (m_graph.tensor(input).role != Role::parameter) return new_gradient(input, "unused");
  auto const dtype = stored_dtype(m_graph.arithmetic.gradients);
  auto const range = bounding_range(input);
  auto const tensor = add_tensor("unused", Role::activation, dtype, {range.last - range.first});
  View view = on(input, tensor.tensor);
  view.offset -= range.first;
  return view;
}

View BackwardContext::new_gradient(View const& input, std::string const& prefix) {
  auto const& forward = m_graph.tensor(input);
  auto const role = forward.role;
  auto const dtype = forward.dtype;
  auto const shape = forward.shape;
  auto const tensor = add_tensor(prefix + "(" + forward.name + ")", role, dtype, shape);
  return on(input, tensor.tensor);
}

void BackwardContext::put(View const& input, TensorId gradient) {
  if (auto const* objection = m_gradients.put(input, gradient))
    refuse_graph(m_forward.name, m_graph.tensor(input).name, objection);
}

BackwardContext::Contribution BackwardContext::contribute(View const& input) {
  if (!wants(input)) return {unused(input), {}};
  auto const earlier = m_gradients.find(input);
  auto const tensor = m_gradients.tensor_of(input.tensor);
  // With `beside`, another part of the same tensor has a gradient, as q has when k's is written.
  bool const beside = tensor && !earlier;
  auto const gradient = beside ? on(input, *tensor) : new_gradient(input, "d");
  put(input, gradient.tensor);
  return {gradient, earlier};
}

View BackwardContext::contribute_alone(View const& input) {
  auto const [gradient, earlier] = contribute(input);
  if (!earlier) return gradient;
  auto const fresh = new_gradient(input, "part");
  m_deferred.push_back({*earlier, fresh, gradient});
  return fresh;
}

void BackwardContext::pass_on(View const& input, View const& gradient) {
  if (!wants(input)) return;
  auto const& tensor = m_graph.tensor(input);
  if (input != whole(tensor) || gradient.offset != 0 || gradient.strides != input.strides ||
      gradient.shape != input.shape)
    refuse_graph(m_forward.name, tensor.name, "only a whole tensor can take over a gradient");
  if (m_gradients.find(input)) {
    auto const [sum, earlier] = contribute(input);
    m_deferred.push_back({*earlier, gradient, sum});
  } else {
    put(input, gradient.tensor);
  }
}

View BackwardContext::gradient_of_chunk(View const& parameter) {
  auto const& tensor = m_graph.tensor(parameter);
  if (tensor.role != Role::parameter || tensor.chunk < 0)
    refuse_graph(m_forward.name, tensor.name, "is no parameter, and used as one");
  return on(parameter, m_graph.chunks[tensor.chunk].gradient);
}

// Returns a view of a new tensor that has room for the parameter's elements alone.
View BackwardContext::new_part(View const& parameter) {
  auto const chunk = m_graph.tensor(parameter).chunk;
  auto const range = bounding_range(parameter);
  auto const gradient = m_graph.chunks[chunk].gradient;
  auto const dtype = m_graph.tensors[gradient].dtype;
  auto const part = add_tensor("part", Role::gradient, dtype, {range.last - range.first});
  m_graph.tensors.back().chunk = chunk;
  View view = on(parameter, part.tensor);
  view.offset -= range.first;
  m_new_parts.push_back({part.tensor, view, {part.tensor, chunk, range}});
  return view;
}

View BackwardContext::parameter_gradient(View const& parameter) {
  if (!wants(parameter)) return unused(parameter);
  auto const gradient = gradient_of_chunk(parameter);
  auto const use = m_gradients.note_use(parameter.tensor, bounding_range(parameter));
  if (use < 0) {
    refuse_graph(m_forward.name, m_graph.tensor(parameter).name,
                 "another op uses some of these parameters, and not all of them");
  }
  return use == 0 ? gradient : new_part(parameter);
}

BackwardContext::InPlace BackwardContext::parameter_gradient_in_place(View const& parameter) {
  auto const gradient = parameter_gradient(parameter);
  auto const part = std::ranges::find(m_new_parts, gradient.tensor, &NewPart::tensor);
  if (part == m_new_parts.end()) return {gradient, {}};
  part->written = gradient_of_chunk(parameter);
  return {part->written, part->written};
}

// For each part that the op makes, records the op and the number of its output.
void BackwardContext::note_parts(Op const& op) {
  for (NewPart& made : m_new_parts) {
    auto const output = std::ranges::find(op.outputs, made.written);
    if (output == op.outputs.end()) continue;
    made.part.op = op.id;
    made.part.output = static_cast<int>(output - op.outputs.begin());
  }
}

void BackwardContext::finish() {
  for (auto const& sum : m_deferred)
    emit<OpKind::add>("add", {.a = sum.earlier, .b = sum.fresh, .c = sum.result});
  m_deferred.clear();
  for (auto const& [tensor, written, part] : std::exchange(m_new_parts, {})) {
    auto const& whole_part = m_graph.tensors[tensor];
    if (part.op < 0) refuse_graph(m_forward.name, whole_part.name, "no op writes it");
    m_graph.parts.push_back(part);
    if (written.tensor != tensor) continue;  // the op that makes the part adds it itself
    auto const gradient = m_graph.chunks[part.chunk].gradient;
    View const sum{gradient, part.range.first, {part.range.last - part.range.first}, {1}};
    m_graph.parts.back().add = emit<OpKind::accumulate>(
        "accumulate", {.fresh = whole(whole_part), .sum = sum}, {}, 0, sum);
  }
}

View BackwardContext::weights(View const& input) {
  std::vector<Op> makers;  // copies, since appending ops may move the graph's list
  for (int id = m_graph.blocks[m_forward.block].first_op; id < m_forward.id; ++id) {
    auto const& op = m_graph.op(id);
    if (op.kind == OpKind::dequantize && writes(op, input.tensor)) makers.push_back(op);
  }
  if (makers.empty()) return input;
  auto const& once = m_graph.tensor(input);
  auto const again = add_tensor("again(" + once.name + ")", once.role, once.dtype, once.shape);
  for (auto const& maker : makers) {
    auto const o = operands<OpKind::dequantize>(maker);
    emit<OpKind::dequantize>("again", {.bytes = o.bytes, .w = on(o.w, again.tensor)},
                             maker.attributes);
  }
  return on(input, again.tensor);
}

View BackwardContext::add_tensor(std::string const& suffix, Role role, DType dtype, Shape shape) {
  auto const id = static_cast<TensorId>(m_graph.tensors.size());
  m_graph.tensors.push_back({.id = id,
                             .name = m_forward.name + "." + suffix,
                             .role = role,
                             .dtype = dtype,
                             .shape = std::move(shape),
                             .block = m_forward.block});
  check_size(m_graph.tensors.back());
  return whole(m_graph.tensors.back());
}

int BackwardContext::emit_op(std::string const& suffix, Op op, Attributes attributes, double flops,
                             std::optional<View> const& sum) {
  op.id = static_cast<int>(m_graph.ops.size());
  op.origin = m_forward.id;
  op.phase = Phase::backward;
  op.block = m_forward.block;
  op.name = m_forward.name + "." + suffix;
  op.attributes = std::move(attributes);
  op.flops = flops;
  check_operands(op);
  set_in_place(op, m_graph.known.loss, true);
  if (sum) {
    auto const output = std::ranges::find(op.outputs, *sum);
    if (output == op.outputs.end())
      refuse_graph(op.name, m_graph.tensor(*sum).name, "the op adds to it and does not write it");
    op.in_place.push_back(static_cast<int>(output - op.outputs.begin()));
  }
  note_parts(op);
  m_graph.ops.push_back(std::move(op));
  return m_graph.ops.back().id;
}

void BackwardContext::elide_forward() {
  m_graph.ops[m_forward.id].elided = true;
}

}  // namespace spillway
