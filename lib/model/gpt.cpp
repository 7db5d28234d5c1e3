#include <cmath>

#include "base/math.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

// Appends causal self-attention of all heads, which reads a fused product qkv [rows, 3 hidden].
View append_gpt_attention(Layers& layers, ModelConfig const& model, Stack const& stack,
                          View const& qkv) {
  auto const head_size = div_exact(model.hidden, model.heads);
  auto const third = [&](int i) { return columns(qkv, i * model.hidden, model.hidden); };
  return layers.attention("attn", third(0), third(1), third(2), stack, stack,
                          {.heads = model.heads,
                           .kv_heads = model.heads,
                           .head_size = head_size,
                           .causal = true,
                           .scale = 1 / std::sqrt(static_cast<double>(head_size))});
}

View append_gpt_layer(Layers& layers, ModelConfig const& model, Stack const& stack,
                      std::string const& name, View const& x) {
  // In GPT-2, projections into the residual stream start smaller, since 2 x layers of them add up.
  Init const small{Init::Kind::normal,
                   Layers::kNormal.std / std::sqrt(2.0 * static_cast<double>(model.layers))};
  auto const prefix = "transformer." + name;

  layers.begin_block(name, true);
  layers.begin_chunk(name);
  auto const ln_1 = layers.layernorm("ln_1", prefix + ".ln_1", x);
  auto const qkv = layers.linear("qkv", {{prefix + ".attn.c_attn", 3 * model.hidden}}, ln_1);
  auto const attended = append_gpt_attention(layers, model, stack, qkv);
  auto const middle =
      layers.residual("proj", {prefix + ".attn.c_proj", model.hidden, small}, attended, x);
  auto const ln_2 = layers.layernorm("ln_2", prefix + ".ln_2", middle);
  auto const result = layers.mlp({.in_op = "fc",
                                  .act_op = "gelu",
                                  .in = {{prefix + ".mlp.c_fc", model.ffn}},
                                  .out = {prefix + ".mlp.c_proj", model.hidden, small},
                                  .form = activation_of(model)},
                                 ln_2, middle);
  layers.end_block();
  return result;
}

}  // namespace

void complete_gpt(ModelConfig& model) {
  if (model.ffn == 0) model.ffn = 4 * model.hidden;
  if (model.norm_eps == 0) model.norm_eps = 1e-5;
  if (!model.activation) model.activation = Activation::gelu_tanh;
}

void append_gpt(Config const& config, std::int64_t vocab, Graph& graph) {
  auto const& model = config.model;
  Layers layers(config, vocab, Orientation::in_out, model.bias, graph);
  auto const stack = layers.add_stack(graph.arithmetic.sequence, {.causal = true});
  layers.add_objective(stack);

  layers.begin_block("embed", false);
  // A tied head uses the table of tokens too, so the table then has a chunk of its own.
  layers.begin_chunk(model.tied ? "wte" : "embed");
  auto const wte = layers.embedding("transformer.wte.weight", vocab);
  if (model.tied) layers.begin_chunk("embed");
  auto const wpe = layers.embedding("transformer.wpe.weight", model.positions);
  View x = layers.dropout("drop", layers.embed("embed", stack, wte, wpe));
  layers.end_block();

  for (std::int64_t i = 0; i < model.layers; ++i)
    x = append_gpt_layer(layers, model, stack, "h." + std::to_string(i), x);

  layers.begin_block("head", false);
  layers.begin_chunk("head");
  x = layers.layernorm("ln_f", "transformer.ln_f", layers.selected("row", x));
  layers.head(x, model.tied ? wte : layers.matrix("lm_head.weight", {vocab, model.hidden}));
  layers.end_block();
  layers.finish();
}

}  // namespace spillway
