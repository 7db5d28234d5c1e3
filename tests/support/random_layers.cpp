#include "tests/support/random_layers.hpp"

#include <algorithm>
#include <cmath>

#include "graph/flops.hpp"

namespace spillway::test {

RandomLayers::RandomLayers(Graph& graph, Random& draws, RandomGraphOptions const& options)
    : m_draws(draws), m_options(options), m_graph(graph), m_builder(graph) {
  m_hidden = between(options.hidden);
  m_micro = between(options.micro);
  m_vocab = between(options.vocab);
  m_drops = chance(30);
  m_dtype = stored_dtype(options.precision);
  graph.seed = m_draws();
}

bool RandomLayers::has_trainable() const {
  return std::ranges::any_of(m_graph.chunks, &Chunk::trainable);
}

View RandomLayers::whole_tensor(TensorId id) const {
  return whole(m_graph.tensors[static_cast<std::size_t>(id)]);
}

View RandomLayers::batch(BatchField field, int stack) const {
  return whole_tensor(m_graph.known.of(field, stack));
}

Activations RandomLayers::stack(int number, std::string const& name) {
  return {name, {number, between(m_options.sequence)}};
}

void RandomLayers::add_batch(std::vector<Activations>& stacks) {
  auto& arithmetic = m_graph.arithmetic;
  arithmetic.precision = m_options.precision;
  arithmetic.micro = m_micro;
  for (auto const& [name, stack, documents, values] : stacks)
    arithmetic.sequence = std::max(arithmetic.sequence, stack.sequence);
  arithmetic.attention_tile = 32;
  auto const rows = m_micro * stacks.back().stack.sequence;
  arithmetic.loss_chunk = 1 + below(m_draws, static_cast<int>(rows));
  for (auto& [name, stack, documents, values] : stacks) {
    m_builder.add_batch(BatchField::tokens, stack);
    if (chance(40)) documents = m_builder.add_batch(BatchField::documents, stack);
  }
  m_builder.add_batch(BatchField::targets, stacks.back().stack);
  m_builder.add_batch(BatchField::weights, stacks.back().stack);
  if (m_drops) m_builder.add_batch(BatchField::samples, {});
  m_graph.known.loss = m_builder.add_tensor("loss", Role::scalar, DType::f64, {2}).tensor;
}

// Sometimes returns an earlier parameter of this shape, so that several ops share it.
View RandomLayers::parameter(Shape const& shape, Init init) {
  auto& made = m_made[shape];
  if (!made.empty() && chance(35))
    return made[static_cast<std::size_t>(below(m_draws, static_cast<int>(made.size())))];
  int const chunk = open_chunk(!m_frozen && !chance(15));
  made.push_back(m_builder.add_parameter(chunk, unique("p"), shape, init, chance(50)));
  return made.back();
}

int RandomLayers::open_chunk(bool trainable) {
  int& chunk = m_chunks[trainable ? 1 : 0];
  if (chunk < 0) chunk = m_builder.add_chunk(unique("c"), trainable);
  return chunk;
}

View RandomLayers::activation(std::string const& name, std::int64_t rows, std::int64_t columns) {
  auto const role = chance(10) ? Role::edge : Role::activation;
  return m_builder.add_tensor(name, role, m_dtype, {rows, columns});
}

View RandomLayers::earlier(Activations const& stack) {
  return stack
      .values[static_cast<std::size_t>(below(m_draws, static_cast<int>(stack.values.size())))];
}

View RandomLayers::embed(Activations const& stack) {
  Init const init{Init::Kind::normal, 0.7};
  auto const wte = parameter({m_vocab, m_hidden}, init);
  auto const tokens = batch(BatchField::tokens, stack.stack.number);
  View wpe, positions, types, wtt;
  if (chance(70)) wpe = parameter({std::max(m_graph.arithmetic.sequence, m_vocab), m_hidden}, init);
  if (is_present(wpe) && chance(30)) positions = tokens;  // any valid rows of wpe will do
  if (chance(30)) wtt = parameter({m_vocab, m_hidden}, init);
  if (is_present(wtt) && chance(50)) types = tokens;
  auto const name = unique("embed");
  auto const x = activation(name, tokens.shape[0], m_hidden);
  m_builder.append<OpKind::embed>(name,
                                  {.tokens = tokens,
                                   .wte = wte,
                                   .wpe = wpe,
                                   .positions = positions,
                                   .types = types,
                                   .wtt = wtt,
                                   .x = x},
                                  EmbedAttributes{stack.stack.sequence});
  return dropout(stack, x);
}

View RandomLayers::norm(Activations& stack, View const& x) {
  if (chance(30)) return x;
  auto const y = chance(35) ? rmsnorm(x, x.shape[1]) : layernorm(x);
  stack.values.insert(stack.values.end() - 1, y);  // the stream stays the last value
  return y;
}

// Normalises every group of `columns` columns by itself.
View RandomLayers::rmsnorm(View const& x, std::int64_t columns) {
  auto const rows = x.shape[0], groups = x.shape[1] / columns;
  auto const gamma = parameter({columns}, {Init::Kind::ones});
  auto const name = unique("rmsnorm");
  auto const y = activation(name, rows, x.shape[1]);
  auto const rstd =
      m_builder.add_tensor(name + ".rstd", Role::activation, DType::f32, {rows, groups});
  m_builder.append<OpKind::rmsnorm>(name, {.x = x, .gamma = gamma, .y = y, .rstd = rstd},
                                    NormAttributes{});
  return y;
}

View RandomLayers::layernorm(View const& x) {
  auto const rows = x.shape[0], columns = x.shape[1];
  auto const gamma = parameter({columns}, {Init::Kind::ones});
  auto const beta = chance(60) ? parameter({columns}, {Init::Kind::normal, 0.2}) : View{};
  auto const name = unique("norm");
  auto const y = activation(name, rows, columns);
  auto const mean = m_builder.add_tensor(name + ".mean", Role::activation, DType::f32, {rows});
  auto const rstd = m_builder.add_tensor(name + ".rstd", Role::activation, DType::f32, {rows});
  m_builder.append<OpKind::layernorm>(
      name, {.x = x, .gamma = gamma, .beta = beta, .y = y, .mean = mean, .rstd = rstd},
      NormAttributes{});
  return y;
}

// Computes x w. Sometimes w is a transposed view, because its parameter is stored the other way.
View RandomLayers::product(View const& x, std::int64_t n, View const& addend) {
  Init const init{Init::Kind::normal, 0.7 / std::sqrt(static_cast<double>(x.shape[1]))};
  auto const w =
      chance(25) ? transposed(parameter({n, x.shape[1]}, init)) : parameter({x.shape[1], n}, init);
  auto const bias = chance(50) ? parameter({n}, {Init::Kind::normal, 0.2}) : View{};
  auto const name = unique("product");
  auto const y = activation(name, x.shape[0], n);
  m_builder.append<OpKind::matmul>(name, {.a = x, .b = w, .bias = bias, .addend = addend, .c = y},
                                   {}, matmul_flops(x, w));
  return y;
}

// Computes x [w_1, w_2, ...]^T. The parameters lie one behind the other, as the weights of q, k and
// v do in models of Hugging Face.
View RandomLayers::product_of_fused(View const& x, std::vector<std::int64_t> const& rows) {
  Init const init{Init::Kind::normal, 0.7 / std::sqrt(static_cast<double>(x.shape[1]))};
  std::vector<GraphBuilder::NewParameter> weights, biases;
  for (auto const n : rows) {
    weights.push_back({unique("p"), {n, x.shape[1]}, init});
    biases.push_back({unique("p"), {n}, {Init::Kind::normal, 0.2}});
  }
  int const chunk = open_chunk(!m_frozen);
  auto const w = transposed(m_builder.add_fused(chunk, weights, true));
  auto const bias = chance(50) ? m_builder.add_fused(chunk, biases, false) : View{};
  auto const name = unique("product");
  auto const y = activation(name, x.shape[0], w.shape[1]);
  m_builder.append<OpKind::matmul>(name, {.a = x, .b = w, .bias = bias, .c = y}, {},
                                   matmul_flops(x, w));
  return y;
}

// Sometimes returns x as it is. Positions may be the batch's tokens, because any numbers will do.
View RandomLayers::rope(Activations const& stack, View const& x, std::int64_t heads,
                        std::int64_t head_size) {
  if (head_size % 2 != 0 || chance(60)) return x;
  auto const positions = chance(30) ? batch(BatchField::tokens, stack.stack.number) : View{};
  auto const name = unique("rope");
  auto const y = activation(name, x.shape[0], x.shape[1]);
  m_builder.append<OpKind::rope>(
      name, {.x = x, .positions = positions, .y = y},
      RopeAttributes{
          .sequence = stack.stack.sequence, .heads = heads, .head_size = head_size, .theta = 100});
  return y;
}

// Never draws relu, because finite differences cannot follow the jump of its slope.
Activation RandomLayers::smooth_form() {
  constexpr std::array forms = {Activation::gelu_tanh, Activation::gelu_erf, Activation::silu};
  return forms[static_cast<std::size_t>(below(m_draws, static_cast<int>(forms.size())))];
}

View RandomLayers::bend(View const& x) {
  auto const name = unique("bend");
  auto const y = activation(name, x.shape[0], x.shape[1]);
  m_builder.append<OpKind::activation>(name, {.f = x, .g = y}, ActivationAttributes{smooth_form()});
  return y;
}

// The first half of x's columns is the gate of the second half.
View RandomLayers::gated(View const& x) {
  auto const name = unique("gated");
  auto const n = x.shape[1] / 2;
  auto const y = activation(name, x.shape[0], n);
  m_builder.append<OpKind::gated>(name, {.gate = columns(x, 0, n), .up = columns(x, n, n), .y = y},
                                  ActivationAttributes{smooth_form()});
  return y;
}

// Takes any number of rows at a time, and perhaps all of them.
View RandomLayers::mlp(Activations const& stack, View const& x, View const& addend) {
  bool const is_gated = chance(50), drops = m_drops && chance(60);
  auto const inner = m_hidden + below(m_draws, static_cast<int>(m_hidden));
  auto const weights = [&](std::int64_t rows, std::int64_t columns) {
    Init const init{Init::Kind::normal, 0.7 / std::sqrt(static_cast<double>(rows))};
    return chance(50) ? transposed(parameter({columns, rows}, init))
                      : parameter({rows, columns}, init);
  };
  auto const bias = [&](std::int64_t n) {
    return chance(50) ? parameter({n}, {Init::Kind::normal, 0.2}) : View{};
  };
  auto const w_in = weights(x.shape[1], is_gated ? 2 * inner : inner),
             bias_in = bias(w_in.shape[1]);
  auto const w_out = weights(inner, m_hidden), bias_out = bias(m_hidden);
  auto const name = unique("mlp");
  auto const y = activation(name, x.shape[0], m_hidden);
  MlpAttributes attributes{.chunk = 1 + below(m_draws, static_cast<int>(x.shape[0])),
                           .form = smooth_form(),
                           .gated = is_gated,
                           .dropout = {}};
  if (drops)
    attributes.dropout = {.p = 0.2,
                          .sequence = stack.stack.sequence,
                          .seed = m_graph.seed,
                          .origin = m_graph.ops.size()};
  m_builder.append<OpKind::mlp>(name,
                                {.x = x,
                                 .w_in = w_in,
                                 .bias_in = bias_in,
                                 .w_out = w_out,
                                 .bias_out = bias_out,
                                 .addend = addend,
                                 .samples = drops ? batch(BatchField::samples, 0) : View{},
                                 .y = y},
                                attributes,
                                matmul_flops(x, w_in) + matmul_flops(y, transposed(w_out)));
  return y;
}

View RandomLayers::dropout(Activations const& stack, View const& x) {
  if (!m_drops) return x;
  auto const name = unique("drop");
  auto const y = activation(name, x.shape[0], x.shape[1]);
  m_builder.append<OpKind::dropout>(name,
                                    {.x = x, .samples = batch(BatchField::samples, 0), .y = y},
                                    DropoutAttributes{.p = 0.1 + 0.1 * below(m_draws, 3),
                                                      .sequence = stack.stack.sequence,
                                                      .seed = m_graph.seed,
                                                      .origin = m_graph.ops.size()});
  return y;
}

View RandomLayers::sum(View const& a, View const& b) {
  auto const name = unique("add");
  auto const y = activation(name, a.shape[0], a.shape[1]);
  m_builder.append<OpKind::add>(name, {.a = a, .b = b, .c = y});
  return y;
}

}  // namespace spillway::test
