#include <cassert>

#include "graph/build.hpp"
#include "graph/gradient_map.hpp"

namespace spillway {
namespace {

View on(View view, TensorId tensor) {
  view.tensor = tensor;
  return view;
}

}  // namespace

bool BackwardContext::wants(View const& input) const {
  auto const role = m_graph.tensor(input).role;
  return role == Role::parameter || role == Role::activation || role == Role::edge;
}

View BackwardContext::incoming(View const& output) const {
  assert(m_gradients.is_complete(m_graph.tensor(output)));
  return on(output, *m_gradients.tensor_of(output.tensor));
}

View BackwardContext::new_gradient(View const& input, std::string const& prefix) {
  auto const& forward = m_graph.tensor(input);
  auto const role = forward.role;
  auto const dtype = forward.dtype;
  auto const shape = forward.shape;
  auto const tensor = add_tensor(prefix + "(" + forward.name + ")", role, dtype, shape);
  return on(input, tensor.tensor);
}

BackwardContext::Contribution BackwardContext::contribute(View const& input) {
  auto const earlier = m_gradients.find(input);
  auto const tensor = m_gradients.tensor_of(input.tensor);
  bool const beside = tensor && !earlier;  // k beside q: another part of the same tensor
  auto const gradient = beside ? on(input, *tensor) : new_gradient(input, "d");
  m_gradients.put(input, gradient.tensor);
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
  assert(input.shape == gradient.shape && is_contiguous(input) && is_contiguous(gradient));
  assert(input.offset == gradient.offset);
  if (m_gradients.find(input)) {
    auto const [sum, earlier] = contribute(input);
    m_deferred.push_back({*earlier, gradient, sum});
  } else {
    m_gradients.put(input, gradient.tensor);
  }
}

void BackwardContext::add_deferred() {
  for (auto const& sum : m_deferred) {
    emit(OpKind::add, "add", {sum.earlier, sum.fresh}, {sum.result});
  }
  m_deferred.clear();
}

BackwardContext::ParameterGradient BackwardContext::parameter_gradient(View const& parameter) {
  auto const chunk = m_graph.tensor(parameter).chunk;
  assert(chunk >= 0);
  auto const gradient = on(parameter, m_graph.chunks[static_cast<std::size_t>(chunk)].gradient);
  return {gradient, m_gradients.mark_written(gradient)};
}

View BackwardContext::add_tensor(std::string const& suffix, Role role, DType dtype, Shape shape) {
  auto const id = static_cast<TensorId>(m_graph.tensors.size());
  m_graph.tensors.push_back({.id = id,
                             .name = m_forward.name + "." + suffix,
                             .role = role,
                             .dtype = dtype,
                             .shape = std::move(shape),
                             .block = m_forward.block});
  return whole(m_graph.tensors.back());
}

int BackwardContext::emit(OpKind kind, std::string const& suffix, std::vector<View> inputs,
                          std::vector<View> outputs, Attributes attributes, double flops,
                          std::vector<int> in_place) {
  int const id = static_cast<int>(m_graph.ops.size());
  m_graph.ops.push_back({.id = id,
                         .origin = m_forward.id,
                         .kind = kind,
                         .phase = Phase::backward,
                         .block = m_forward.block,
                         .name = m_forward.name + "." + suffix,
                         .inputs = std::move(inputs),
                         .outputs = std::move(outputs),
                         .in_place = std::move(in_place),
                         .attributes = std::move(attributes),
                         .flops = flops});
  return id;
}

void BackwardContext::elide_forward() {
  m_graph.ops[static_cast<std::size_t>(m_forward.id)].elided = true;
}

}  // namespace spillway
