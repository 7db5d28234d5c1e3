#include <cmath>
#include <vector>

#include "base/math.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

// T5 does not divide scores by the root of a head's size. The initial values of parameters make up
// for it (Raffel et al., arXiv:1910.10683).
Init normal(std::int64_t columns) {
  return {Init::Kind::normal, 1 / std::sqrt(static_cast<double>(columns))};
}

// A Side is the encoder or the decoder, with what all of its layers use.
struct Side {
  std::string name;  // "encoder" or "decoder"
  Stack stack;
  bool causal;
  View distance_bias;  // the same view in all layers of the side
};

class T5 {
 public:
  T5(Config const& config, std::int64_t vocab, Graph& graph)
      : m_model(config.model),
        m_encodes(graph.decoding.encodes),
        m_layers(config, vocab, Orientation::out_in, kHasBiases, graph),
        m_vocab(vocab),
        m_inner(m_model.heads * m_model.head_size) {}

  Layers& layers() { return m_layers; }
  View const& wte() const { return m_wte; }

  // Appends the block that embeds the side's tokens and makes the bias that all its layers use.
  View embed(Side& side) {
    m_layers.begin_block(side.name + ".embed", false);
    if (!is_present(m_wte)) {
      m_layers.begin_chunk("shared");
      m_wte = m_layers.embedding("shared.weight", m_vocab, of_words());
    }
    m_layers.begin_chunk(side.name + ".embed");
    side.distance_bias = m_layers.relative_bias(
        "bias", side.name + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        side.stack, !side.causal, normal(m_model.hidden));
    auto const x = m_layers.dropout("drop", m_layers.embed("embed", side.stack, m_wte));
    m_layers.end_block();
    return x;
  }

  // `memory` is the encoder's output, or null if `side` is the encoder.
  View layer(Side const& side, std::int64_t number, View const& x, Stack const& memory_stack,
             View const* memory) {
    auto const name = side.name + ".block." + std::to_string(number), at = name + ".layer.";
    m_layers.begin_block(name, true);
    m_layers.begin_chunk(name);
    auto y = self_attention(side, at + "0", x);
    if (memory != nullptr) y = cross_attention(side, at + "1", y, memory_stack, *memory);
    y = feed_forward(at + (memory != nullptr ? "2" : "1"), y);
    m_layers.end_block();
    return y;
  }

  View norm(std::string const& op, std::string const& name, View const& x) {
    return m_layers.rmsnorm(op, name, x, m_model.hidden);
  }

 private:
  static constexpr bool kHasBiases = false;

  Heads heads(bool causal) const {
    return {.heads = m_model.heads,
            .kv_heads = m_model.heads,
            .head_size = m_model.head_size,
            .causal = causal,
            .scale = 1};
  }
  // Published T5 models draw the table of tokens with a deviation of 1. If the table is the head
  // too, a row of the decoder resembles its own word, whose logit would be deviation^2
  // sqrt(hidden): too large at first.
  Init of_words() const {
    if (!m_model.tied) return {Init::Kind::normal, 1};
    if (m_model.scale_output == ScaleOutput::no) return Layers::kNormal;
    return {Init::Kind::normal, 2 / std::pow(static_cast<double>(m_model.hidden), 0.25)};
  }
  Init of_queries() const { return normal(m_model.hidden * m_model.head_size); }

  View self_attention(Side const& side, std::string const& at, View const& x) {
    auto const in = at + ".SelfAttention.";
    auto const before = norm("ln_1", at + ".layer_norm", x);
    auto const of_rest = normal(m_model.hidden);
    auto const qkv = m_layers.linear("qkv",
                                     {{in + "q", m_inner, of_queries()},
                                      {in + "k", m_inner, of_rest},
                                      {in + "v", m_inner, of_rest}},
                                     before);
    auto const third = [&](int i) { return columns(qkv, i * m_inner, m_inner); };
    auto const attended = m_layers.attention("attn", third(0), third(1), third(2), side.stack,
                                             side.stack, heads(side.causal), side.distance_bias);
    return m_layers.residual("proj", {in + "o", m_model.hidden, normal(m_inner)}, attended, x);
  }

  View cross_attention(Side const& side, std::string const& at, View const& x,
                       Stack const& memory_stack, View const& memory) {
    auto const in = at + ".EncDecAttention.";
    auto const before = norm("ln_2", at + ".layer_norm", x);
    auto const of_rest = normal(m_model.hidden);
    auto const q = m_layers.linear("cross_q", {{in + "q", m_inner, of_queries()}}, before);
    m_layers.run_ops(m_encodes);
    auto const kv = m_layers.keep_for_later_steps(m_layers.linear(
        "cross_kv", {{in + "k", m_inner, of_rest}, {in + "v", m_inner, of_rest}}, memory));
    m_layers.run_ops(true);
    auto const attended =
        m_layers.attention("cross", q, columns(kv, 0, m_inner), columns(kv, m_inner, m_inner),
                           side.stack, memory_stack, heads(false));
    return m_layers.residual("cross_proj", {in + "o", m_model.hidden, normal(m_inner)}, attended,
                             x);
  }

  View feed_forward(std::string const& at, View const& x) {
    auto const in = at + ".DenseReluDense.";
    auto const before = norm("ln_3", at + ".layer_norm", x);
    auto const init = normal(m_model.hidden);
    std::vector<Layers::Projection> projections = {{in + "wi", m_model.ffn, init}};
    if (m_model.gated)
      projections = {{in + "wi_0", m_model.ffn, init}, {in + "wi_1", m_model.ffn, init}};
    return m_layers.mlp({.in_op = "fc",
                         .act_op = "act",
                         .in = projections,
                         .out = {in + "wo", m_model.hidden, normal(m_model.ffn)},
                         .form = activation_of(m_model),
                         .drops_inside = true},
                        before, x);
  }

  ModelConfig const& m_model;
  bool m_encodes;
  Layers m_layers;
  std::int64_t m_vocab, m_inner;  // m_inner is heads x head size
  View m_wte;                     // the table of tokens, which both sides use
};

}  // namespace

void complete_t5(ModelConfig& model) {
  if (model.head_size == 0) model.head_size = div_exact(model.hidden, model.heads);
  if (model.decoder_layers == 0) model.decoder_layers = model.layers;
  if (model.ffn == 0) model.ffn = 4 * model.hidden;
  if (model.norm_eps == 0) model.norm_eps = 1e-6;
  if (!model.activation) model.activation = model.gated ? Activation::gelu_tanh : Activation::relu;
  if (!model.scale_output) model.scale_output = model.tied ? ScaleOutput::yes : ScaleOutput::no;
}

void append_t5(Config const& config, std::int64_t vocab, Graph& graph) {
  auto const& model = config.model;
  T5 t5(config, vocab, graph);
  auto& layers = t5.layers();
  Side encoder{
      "encoder", layers.add_stack(graph.arithmetic.sequence, {.padding = true}), false, {}};
  Side decoder{
      "decoder",
      layers.add_stack(config.data.target_length.value(), {.padding = true, .causal = true}),
      true,
      {}};
  layers.add_objective(decoder.stack);

  layers.run_ops(graph.decoding.encodes);
  auto x = t5.embed(encoder);
  for (std::int64_t i = 0; i < model.layers; ++i) x = t5.layer(encoder, i, x, {}, nullptr);
  layers.begin_block("encoder.norm", false);
  layers.begin_chunk("encoder.norm");
  auto const memory = layers.dropout("drop", t5.norm("ln", "encoder.final_layer_norm", x));
  layers.end_block();
  layers.run_ops(true);

  x = t5.embed(decoder);
  for (std::int64_t i = 0; i < model.decoder_layers; ++i)
    x = t5.layer(decoder, i, x, encoder.stack, &memory);
  layers.begin_block("head", false);
  layers.begin_chunk("head");
  x = t5.norm("ln", "decoder.final_layer_norm", layers.selected("row", x));
  auto const w = model.tied ? t5.wte() : layers.matrix("lm_head.weight", {vocab, model.hidden});
  bool const scales = model.scale_output == ScaleOutput::yes;
  layers.head(layers.dropout("drop", x), w, {},
              scales ? 1 / std::sqrt(static_cast<double>(model.hidden)) : 1);
  layers.end_block();
  layers.finish();
}

}  // namespace spillway
