#include "support/random_layers.hpp"

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
  m_dtype = options.precision == "bf16" ? DType::bf16 : DType::f32;
  graph.seed = m_draws();
}

bool RandomLayers::has_trainable() const {
  return std::ranges::any_of(m_graph.chunks, &Chunk::trainable);
}

View RandomLayers::known(TensorId id) const {
  return whole(m_graph.tensors[static_cast<std::size_t>(id)]);
}

Stack RandomLayers::stack(std::string const& name) {
  return {name, between(m_options.sequence)};
}

// Stacks read the beginning of the batch that the longest of them has; an encoder, its targets.
void RandomLayers::add_batch(std::vector<Stack>& stacks) {
  auto& arithmetic = m_graph.arithmetic;
  arithmetic.precision = m_options.precision;
  arithmetic.micro = m_micro;
  arithmetic.sequence = std::ranges::max(stacks, {}, &Stack::length).length;
  arithmetic.attention_tile = 32;
  auto const rows = m_micro * arithmetic.sequence;
  arithmetic.loss_chunk = 1 + below(m_draws, static_cast<int>(rows));
  auto& batch = m_graph.known;
  batch.tokens = m_builder.add_tensor("tokens", Role::batch, DType::i32, {rows}).tensor;
  batch.targets = m_builder.add_tensor("targets", Role::batch, DType::i32, {rows}).tensor;
  batch.weights = m_builder.add_tensor("weights", Role::batch, DType::f32, {rows}).tensor;
  if (m_drops)
    batch.samples = m_builder.add_tensor("samples", Role::batch, DType::i64, {m_micro}).tensor;
  batch.loss = m_builder.add_tensor("loss", Role::scalar, DType::f64, {2}).tensor;
  for (Stack& stack : stacks) {
    auto const tensor = &stack == &stacks.back() ? batch.tokens : batch.targets;
    stack.tokens = {tensor, 0, {m_micro * stack.length}, {1}};
  }
}

// One that was made before for something else, at times.
View RandomLayers::parameter(Shape const& shape, Init init) {
  auto& made = m_made[shape];
  if (!made.empty() && chance(35))
    return made[static_cast<std::size_t>(below(m_draws, static_cast<int>(made.size())))];
  bool const trainable = !m_frozen && !chance(15);
  int& chunk = m_chunks[trainable ? 1 : 0];
  if (chunk < 0) chunk = m_builder.add_chunk(unique("c"), trainable);
  made.push_back(m_builder.add_parameter(chunk, unique("p"), shape, init, chance(50)));
  return made.back();
}

View RandomLayers::activation(std::string const& name, std::int64_t rows, std::int64_t columns) {
  auto const role = chance(10) ? Role::edge : Role::activation;
  return m_builder.add_tensor(name, role, m_dtype, {rows, columns});
}

View RandomLayers::earlier(Stack const& stack) {
  return stack
      .values[static_cast<std::size_t>(below(m_draws, static_cast<int>(stack.values.size())))];
}

View RandomLayers::embed(Stack const& stack) {
  Init const init{Init::Kind::normal, 0.7};
  auto const wte = parameter({m_vocab, m_hidden}, init);
  auto const wpe = parameter({m_graph.arithmetic.sequence, m_hidden}, init);
  auto const name = unique("embed");
  auto const x = activation(name, m_micro * stack.length, m_hidden);
  m_builder.append(OpKind::embed, name, {stack.tokens, wte, wpe}, {x},
                   EmbedAttributes{stack.length});
  return dropout(stack, x);
}

View RandomLayers::norm(Stack& stack, View const& x) {
  if (chance(30)) return x;
  auto const rows = x.shape[0], columns = x.shape[1];
  auto const gamma = parameter({columns}, {Init::Kind::ones});
  auto const beta = chance(60) ? parameter({columns}, {Init::Kind::normal, 0.2}) : View{};
  auto const name = unique("norm");
  auto const y = activation(name, rows, columns);
  auto const mean = m_builder.add_tensor(name + ".mean", Role::activation, DType::f32, {rows});
  auto const rstd = m_builder.add_tensor(name + ".rstd", Role::activation, DType::f32, {rows});
  m_builder.append(OpKind::layernorm, name, {x, gamma, beta}, {y, mean, rstd}, NormAttributes{});
  stack.values.insert(stack.values.end() - 1, y);  // the stream stays the last
  return y;
}

// x w, or x w^T of a matrix that lies the other way round.
View RandomLayers::product(View const& x, std::int64_t n, View const& addend) {
  Init const init{Init::Kind::normal, 0.7 / std::sqrt(static_cast<double>(x.shape[1]))};
  auto const w =
      chance(25) ? transposed(parameter({n, x.shape[1]}, init)) : parameter({x.shape[1], n}, init);
  auto const bias = chance(50) ? parameter({n}, {Init::Kind::normal, 0.2}) : View{};
  auto const name = unique("product");
  auto const y = activation(name, x.shape[0], n);
  m_builder.append(OpKind::matmul, name, {x, w, bias, addend}, {y}, {}, matmul_flops(x, w));
  return y;
}

View RandomLayers::gelu(View const& x) {
  auto const name = unique("gelu");
  auto const y = activation(name, x.shape[0], x.shape[1]);
  m_builder.append(OpKind::gelu, name, {x}, {y},
                   GeluAttributes{chance(50) ? GeluForm::tanh : GeluForm::erf});
  return y;
}

View RandomLayers::dropout(Stack const& stack, View const& x) {
  if (!m_drops) return x;
  auto const name = unique("drop");
  auto const y = activation(name, x.shape[0], x.shape[1]);
  m_builder.append(OpKind::dropout, name, {x, known(m_graph.known.samples)}, {y},
                   DropoutAttributes{.p = 0.1 + 0.1 * below(m_draws, 3),
                                     .sequence = stack.length,
                                     .seed = m_graph.seed,
                                     .origin = m_graph.ops.size()});
  return y;
}

View RandomLayers::sum(View const& a, View const& b) {
  auto const name = unique("add");
  auto const y = activation(name, a.shape[0], a.shape[1]);
  m_builder.append(OpKind::add, name, {a, b}, {y});
  return y;
}

}  // namespace spillway::test
