#include "model/layers.hpp"

#include "base/math.hpp"
#include "graph/flops.hpp"

namespace spillway {
namespace {

constexpr Init kZeros{Init::Kind::zeros}, kOnes{Init::Kind::ones};

}  // namespace

Layers::Layers(Config const& config, std::int64_t vocab, Orientation orientation, Graph& graph)
    : m_config(config),
      m_graph(graph),
      m_builder(graph),
      m_drops(config.model.dropout > 0 && graph.purpose == Purpose::train),
      m_dtype(stored_dtype(graph.arithmetic.precision)),
      m_vocab(vocab),
      m_orientation(orientation) {}

Stack Layers::add_stack(std::int64_t sequence) {
  Stack const stack{m_stacks++, sequence};
  m_builder.add_batch(BatchField::tokens, stack);
  return stack;
}

void Layers::add_objective(Stack const& stack) {
  m_objective = stack.number;
  auto& known = m_graph.known;
  if (m_graph.purpose == Purpose::generate) {
    m_builder.add_batch(BatchField::position, stack);
    known.logits = m_builder.add_tensor("logits", Role::scalar, DType::f32, {1, m_vocab}).tensor;
    return;
  }
  m_builder.add_batch(BatchField::targets, stack);
  m_builder.add_batch(BatchField::weights, stack);
  if (m_drops) m_builder.add_batch(BatchField::samples, {});
  known.loss = m_builder.add_tensor("loss", Role::scalar, DType::f64, {2}).tensor;
}

View Layers::known(TensorId id) const {
  return whole(m_graph.tensors[id]);
}

View Layers::parameter(std::string const& name, Shape shape, Init init, bool decay) {
  return m_builder.add_parameter(m_chunk, name, std::move(shape), init,
                                 decay || m_config.optim.decay_all);
}

View Layers::bias(std::string const& name, std::int64_t n) {
  return m_config.model.bias ? parameter(name + ".bias", {n}, kZeros, false) : View{};
}

View Layers::embedding(std::string const& name, std::int64_t rows) {
  return parameter(name, {rows, m_config.model.hidden}, kNormal, false);
}

View Layers::matrix(std::string const& name, Shape shape, Init init) {
  return parameter(name, std::move(shape), init, true);
}

View Layers::activation(std::string const& name, std::int64_t rows, std::int64_t columns) {
  return m_builder.add_tensor(name, Role::activation, m_dtype, {rows, columns});
}

View Layers::embed(std::string const& op, Stack const& stack, View const& wte, View const& wpe,
                   View const& wtt) {
  auto const tokens = batch(BatchField::tokens, stack.number);
  auto const x = activation(op, tokens.shape[0], wte.shape[1]);
  m_builder.append(OpKind::embed, op, {tokens, wte, wpe, {}, {}, wtt}, {x},
                   EmbedAttributes{stack.sequence});
  return x;
}

View Layers::layernorm(std::string const& op, std::string const& name, View const& x) {
  auto const rows = x.shape[0], columns = x.shape[1];
  auto const gamma = parameter(name + ".weight", {columns}, kOnes, false);
  auto const beta = bias(name, columns);
  auto const y = activation(op, rows, columns);
  auto const mean = m_builder.add_tensor(op + ".mean", Role::activation, DType::f32, {rows});
  auto const rstd = m_builder.add_tensor(op + ".rstd", Role::activation, DType::f32, {rows});
  m_builder.append(OpKind::layernorm, op, {x, gamma, beta}, {y, mean, rstd},
                   NormAttributes{m_config.model.norm_eps});
  return y;
}

View Layers::rmsnorm(std::string const& op, std::string const& name, View const& x,
                     std::int64_t columns) {
  auto const rows = x.shape[0], groups = div_exact(x.shape[1], columns);
  auto const gamma = parameter(name + ".weight", {columns}, kOnes, false);
  auto const y = activation(op, rows, x.shape[1]);
  auto const rstd =
      m_builder.add_tensor(op + ".rstd", Role::activation, DType::f32, {rows, groups});
  m_builder.append(OpKind::rmsnorm, op, {x, gamma}, {y, rstd},
                   NormAttributes{m_config.model.norm_eps});
  return y;
}

View Layers::product(std::string const& op, std::string const& name, View const& x, std::int64_t n,
                     Init init, View const& addend) {
  auto const weight = name + ".weight";
  auto const w = m_orientation == Orientation::in_out
                     ? matrix(weight, {x.shape[1], n}, init)
                     : transposed(matrix(weight, {n, x.shape[1]}, init));
  auto const y = activation(op, x.shape[0], n);
  m_builder.append(OpKind::matmul, op, {x, w, bias(name, n), addend}, {y}, {}, matmul_flops(x, w));
  return y;
}

View Layers::linear(std::string const& op, std::string const& name, View const& x, std::int64_t n) {
  return product(op, name, x, n, kNormal, {});
}

View Layers::residual(std::string const& op, std::string const& name, View const& branch, Init init,
                      View const& x) {
  auto const columns = x.shape[1];
  if (!m_drops) return product(op, name, branch, columns, init, x);
  auto const y = dropout(op + ".drop", product(op, name, branch, columns, init, {}));
  auto const sum = activation(op + ".add", x.shape[0], columns);
  m_builder.append(OpKind::add, op + ".add", {x, y}, {sum});
  return sum;
}

View Layers::rope(std::string const& op, View const& x, Stack const& stack,
                  RopeAttributes attributes) {
  attributes.sequence = stack.sequence;
  auto const y = activation(op, x.shape[0], x.shape[1]);
  m_builder.append(OpKind::rope, op, {x, {}}, {y}, attributes);
  return y;
}

View Layers::attention(std::string const& op, View const& q, View const& k, View const& v,
                       AttentionAttributes attributes) {
  if (!m_drops) attributes.dropout = 0;
  bool const drops = attributes.dropout > 0;
  if (drops) attributes.seed = m_graph.seed, attributes.origin = m_graph.ops.size();
  auto const o = activation(op, q.shape[0], q.shape[1]);
  auto const lse = m_builder.add_tensor(op + ".lse", Role::activation, DType::f32,
                                        {attributes.batch, attributes.heads, attributes.queries});
  m_builder.append(OpKind::attention, op,
                   {q, k, v, {}, {}, {}, drops ? batch(BatchField::samples) : View{}}, {o, lse},
                   attributes, attention_flops(attributes));
  return o;
}

View Layers::activate(std::string const& op, View const& x, Activation form) {
  auto const y = activation(op, x.shape[0], x.shape[1]);
  m_builder.append(OpKind::activation, op, {x}, {y}, ActivationAttributes{form});
  return y;
}

View Layers::gated(std::string const& op, View const& x, Activation form) {
  auto const n = div_exact<std::int64_t>(x.shape[1], 2);
  auto const y = activation(op, x.shape[0], n);
  m_builder.append(OpKind::gated, op, {columns(x, 0, n), columns(x, n, n)}, {y},
                   ActivationAttributes{form});
  return y;
}

View Layers::dropout(std::string const& op, View const& x) {
  if (!m_drops) return x;
  auto const y = activation(op, x.shape[0], x.shape[1]);
  m_builder.append(OpKind::dropout, op, {x, batch(BatchField::samples)}, {y},
                   DropoutAttributes{.p = m_config.model.dropout,
                                     .sequence = div_exact(x.shape[0], m_graph.arithmetic.micro),
                                     .seed = m_graph.seed,
                                     .origin = m_graph.ops.size()});
  return y;
}

View Layers::select_row(std::string const& op, View const& x) {
  auto const row = activation(op, 1, x.shape[1]);
  m_builder.append(OpKind::select_row, op, {x, batch(BatchField::position, m_objective)}, {row});
  return row;
}

void Layers::loss(std::string const& op, View const& x, View const& w, View const& bias,
                  double scale) {
  auto const losses = m_builder.add_tensor("losses", Role::activation, DType::f32, {x.shape[0]});
  auto const targets = batch(BatchField::targets, m_objective);
  auto const weights = batch(BatchField::weights, m_objective);
  m_builder.append(
      OpKind::lm_head_loss, op, {x, w, targets, weights, bias}, {losses, known(m_graph.known.loss)},
      LmHeadAttributes{m_graph.arithmetic.loss_chunk, scale}, matmul_flops(x, transposed(w)));
}

void Layers::logits(std::string const& op, View const& x, View const& w, View const& bias) {
  m_builder.append(OpKind::matmul, op, {x, transposed(w), bias, {}}, {known(m_graph.known.logits)},
                   {}, matmul_flops(x, transposed(w)));
}

}  // namespace spillway
