// Implements the functions of RandomLayers that append attention, products and the like to a stack.
#include <cmath>

#include "graph/flops.hpp"
#include "tests/support/random_layers.hpp"

namespace spillway::test {

// Appends a projection of `branch` to the stream. If `adds` is true, the product itself or an op
// adds it to the stream's value; otherwise it replaces that value, on which `branch` then depends.
void RandomLayers::join(Activations& stack, View const& branch, bool adds) {
  auto const stream = stack.values.back();
  bool const by_product = chance(60);
  auto y = product(branch, m_hidden, adds && by_product ? stream : View{});
  if (chance(30)) y = dropout(stack, y);
  if (adds && !by_product) y = chance(50) ? sum(stream, y) : sum(y, stream);
  stack.values.push_back(y);
}

AttentionAttributes RandomLayers::heads(Activations const& stack, Activations const& other) {
  int const kv_heads = 1 + below(m_draws, 2), group = 1 + below(m_draws, 2);
  int const head_size = 2 + below(m_draws, 5);
  return {.batch = m_micro,
          .queries = stack.stack.sequence,
          .keys = other.stack.sequence,
          .heads = kv_heads * group,
          .kv_heads = kv_heads,
          .head_size = head_size,
          .scale = 1 / std::sqrt(static_cast<double>(head_size)),
          .tile = m_graph.arithmetic.attention_tile};
}

// Returns no bias, a new one or that of an earlier block: layers of T5 share one bias.
View RandomLayers::distance_bias(AttentionAttributes const& attributes) {
  if (!chance(30)) return {};
  Shape const shape{attributes.heads, attributes.queries + attributes.keys - 1};
  auto& made = m_biases[shape];
  if (is_present(made) && chance(60)) return made;
  auto const name = unique("bias");
  made = m_builder.add_tensor(name, Role::activation, DType::f32, shape);
  auto const table =
      parameter({8 + 2 * below(m_draws, 3), attributes.heads}, {Init::Kind::normal, 0.7});
  m_builder.append<OpKind::relative_bias>(
      name, {.table = table, .distance_bias = made},
      RelativeBiasAttributes{attributes.queries, 8 + below(m_draws, 60), chance(50)});
  return made;
}

View RandomLayers::attend(std::array<View, 3> const& qkv, AttentionAttributes attributes,
                          std::array<View, 2> const& segments) {
  auto const& [q, k, v] = qkv;
  auto const bias = distance_bias(attributes);
  View samples;
  if (m_drops && chance(60)) {
    samples = batch(BatchField::samples, 0);
    attributes.dropout = 0.3;
    attributes.seed = m_graph.seed;
    attributes.origin = m_graph.ops.size();
  }
  auto const name = unique("attention");
  auto const o = activation(name, q.shape[0], q.shape[1]);
  auto const lse = m_builder.add_tensor(name + ".lse", Role::activation, DType::f32,
                                        {attributes.batch, attributes.heads, attributes.queries});
  m_builder.append<OpKind::attention>(name,
                                      {.q = q,
                                       .k = k,
                                       .v = v,
                                       .segments_q = segments[0],
                                       .segments_k = segments[1],
                                       .distance_bias = bias,
                                       .samples = samples,
                                       .o = o,
                                       .lse = lse},
                                      attributes, attention_flops(attributes));
  return o;
}

// q, k and v are columns of one product.
void RandomLayers::self_attention(Activations& stack) {
  auto attributes = heads(stack, stack);
  if (chance(70)) {
    attributes.causal = true;
    if (chance(50)) attributes.window = 1 + below(m_draws, static_cast<int>(stack.stack.sequence));
  }
  bool const from_stream = chance(70);
  auto const x = norm(stack, from_stream ? stack.values.back() : earlier(stack));
  auto const q = attributes.heads * attributes.head_size;
  auto const k = attributes.kv_heads * attributes.head_size;
  auto const fused = chance(40) ? product_of_fused(x, {q, k, k}) : product(x, q + 2 * k, {});
  auto const head = attributes.head_size;
  // One rope op may rotate q and k, with v in the same tensor, and others may rotate each by
  // itself.
  auto const qkv = rope(stack, fused, attributes.heads + attributes.kv_heads, head);
  auto const segments = chance(80) ? stack.documents : View{};
  auto const prepared = [&](View const& heads, std::int64_t number) {
    return rope(stack, chance(25) ? rmsnorm(heads, head) : heads, number, head);
  };
  auto const o = attend({prepared(columns(qkv, 0, q), attributes.heads),
                         prepared(columns(qkv, q, k), attributes.kv_heads), columns(qkv, q + k, k)},
                        attributes, {segments, segments});
  join(stack, o, !from_stream || chance(80));
}

// Queries come from one stack, keys and values from another.
void RandomLayers::cross_attention(Activations& stack, Activations& other) {
  auto const attributes = heads(stack, other);
  auto const x = norm(stack, stack.values.back());
  auto const context = norm(other, other.values.back());
  bool const masks = is_present(stack.documents) && is_present(other.documents);
  std::array<View, 2> segments;
  if (masks) segments = {stack.documents, other.documents};
  auto const n = attributes.kv_heads * attributes.head_size;
  auto const q = product(x, attributes.heads * attributes.head_size, {});
  if (chance(50)) {
    auto const kv = product(context, 2 * n, {});
    return join(stack, attend({q, columns(kv, 0, n), columns(kv, n, n)}, attributes, segments),
                true);
  }
  auto const k = product(context, n, {}), v = product(earlier(other), n, {});
  join(stack, attend({q, k, v}, attributes, segments), true);
}

void RandomLayers::feed_forward(Activations& stack) {
  bool const from_stream = chance(70);
  auto const x = norm(stack, from_stream ? stack.values.back() : earlier(stack));
  if (chance(40)) {
    bool const adds = !from_stream || chance(80);
    stack.values.push_back(mlp(stack, x, adds ? stack.values.back() : View{}));
    return;
  }
  auto const n = m_hidden + below(m_draws, static_cast<int>(2 * m_hidden));
  auto const inner = chance(40) ? gated(product(x, 2 * n, {})) : bend(product(x, n, {}));
  join(stack, inner, !from_stream || chance(80));
}

void RandomLayers::product_of_earlier(Activations& stack) {
  join(stack, earlier(stack), true);
}

void RandomLayers::add_earlier(Activations& stack) {
  stack.values.push_back(sum(stack.values.back(), earlier(stack)));
}

void RandomLayers::embed_again(Activations& stack) {
  stack.values.push_back(sum(embed(stack), stack.values.back()));
}

void RandomLayers::loss(Activations const& stack) {
  // If by chance all parameters so far are frozen, this op gets a new matrix that is trainable.
  Activations last = stack;
  auto const x = norm(last, last.values.back());
  if (!has_trainable()) m_made.clear();
  auto const w = has_trainable() ? parameter({m_vocab, m_hidden}, {Init::Kind::normal, 0.3})
                                 : m_builder.add_parameter(m_builder.add_chunk("head"), "head",
                                                           {m_vocab, m_hidden},
                                                           {Init::Kind::normal, 0.3}, true);
  auto const rows = x.shape[0];
  auto const losses = m_builder.add_tensor("losses", Role::activation, DType::f32, {rows});
  auto const number = stack.stack.number;
  auto const bias = chance(30) ? parameter({m_vocab}, {Init::Kind::normal, 0.3}) : View{};
  double const scale = chance(30) ? 0.5 : 1;
  m_builder.append<OpKind::lm_head_loss>("loss",
                                         {.x = x,
                                          .w = w,
                                          .targets = batch(BatchField::targets, number),
                                          .weights = batch(BatchField::weights, number),
                                          .bias = bias,
                                          .losses = losses,
                                          .loss = whole_tensor(m_graph.known.loss)},
                                         LmHeadAttributes{m_graph.arithmetic.loss_chunk, scale},
                                         matmul_flops(x, transposed(w)));
}

}  // namespace spillway::test
