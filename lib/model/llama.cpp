#include <cmath>
#include <string>

#include "base/math.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

RopeAttributes rope_of(ModelConfig const& model, std::int64_t heads) {
  return {.heads = heads,
          .head_size = model.head_size,
          .theta = model.rope_theta,
          .scaling = model.rope_scaling,
          .factor = model.rope_factor,
          .low_freq_factor = model.rope_low_freq_factor,
          .high_freq_factor = model.rope_high_freq_factor,
          .original_max_position = model.rope_original_positions};
}

struct LlamaLayer {
  std::int64_t number;
  std::string name, prefix;
  Stack stack;
};

// One product makes queries, keys and values side by side, in this order, so that one op can rotate
// queries and keys. Qwen3 normalises the heads of queries and keys before their rotation, so its q
// and k are tensors of their own.
View append_llama_attention(Layers& layers, ModelConfig const& model, LlamaLayer const& layer,
                            View const& x) {
  auto const at = layer.prefix + ".self_attn.";
  auto const size = model.head_size, q_columns = model.heads * size,
             k_columns = model.kv_heads * size;
  auto const qkv = layers.linear(
      "qkv", {{at + "q_proj", q_columns}, {at + "k_proj", k_columns}, {at + "v_proj", k_columns}},
      x, model.qkv_bias);
  auto q = columns(qkv, 0, q_columns), k = columns(qkv, q_columns, k_columns);
  auto v = columns(qkv, q_columns + k_columns, k_columns);
  if (model.qk_norm) {
    q = layers.rmsnorm("q_norm", at + "q_norm", q, size);
    k = layers.rmsnorm("k_norm", at + "k_norm", k, size);
    q = layers.rope("q_rope", q, layer.stack, rope_of(model, model.heads));
    k = layers.rope("k_rope", k, layer.stack, rope_of(model, model.kv_heads));
  } else {
    auto const turned =
        layers.rope("rope", qkv, layer.stack, rope_of(model, model.heads + model.kv_heads));
    q = columns(turned, 0, q_columns), k = columns(turned, q_columns, k_columns);
    v = columns(turned, q_columns + k_columns, k_columns);
  }
  return layers.attention("attn", q, k, v, layer.stack, layer.stack,
                          {.heads = model.heads,
                           .kv_heads = model.kv_heads,
                           .head_size = size,
                           .causal = true,
                           .window = layer.number >= model.window_from ? model.window : 0,
                           .scale = 1 / std::sqrt(static_cast<double>(size))});
}

View append_llama_layer(Layers& layers, ModelConfig const& model, LlamaLayer const& layer,
                        View const& x) {
  layers.begin_block(layer.name, true);
  layers.begin_chunk(layer.name);
  auto const mlp = layer.prefix + ".mlp.";
  auto const before = layers.rmsnorm("ln_1", layer.prefix + ".input_layernorm", x, model.hidden);
  auto const attended = append_llama_attention(layers, model, layer, before);
  auto const middle =
      layers.residual("proj", {layer.prefix + ".self_attn.o_proj", model.hidden}, attended, x);
  auto const between =
      layers.rmsnorm("ln_2", layer.prefix + ".post_attention_layernorm", middle, model.hidden);
  auto const result =
      layers.mlp({.in_op = "gate_up",
                  .act_op = "gated",
                  .in = {{mlp + "gate_proj", model.ffn}, {mlp + "up_proj", model.ffn}},
                  .out = {mlp + "down_proj", model.hidden},
                  .form = Activation::silu},
                 between, middle);
  layers.end_block();
  return result;
}

}  // namespace

void complete_llama(ModelConfig& model) {
  constexpr std::int64_t multiple = 256;
  if (model.head_size == 0) model.head_size = div_exact(model.hidden, model.heads);
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.ffn == 0) model.ffn = round_up(8 * model.hidden / 3, multiple);
  if (model.norm_eps == 0) model.norm_eps = 1e-6;
}

void append_llama(Config const& config, std::int64_t vocab, Graph& graph) {
  auto const& model = config.model;
  constexpr bool has_biases = false;
  Layers layers(config, vocab, Orientation::out_in, has_biases, graph);
  auto const stack = layers.add_stack(graph.arithmetic.sequence, {.causal = true});
  layers.add_objective(stack);

  layers.begin_block("embed", false);
  layers.begin_chunk("embed");
  auto const wte = layers.embedding("model.embed_tokens.weight", vocab);
  View x = layers.dropout("drop", layers.embed("embed", stack, wte));
  layers.end_block();

  for (std::int64_t i = 0; i < model.layers; ++i) {
    auto const name = "layers." + std::to_string(i);
    x = append_llama_layer(layers, model, {i, name, "model." + name, stack}, x);
  }

  layers.begin_block("head", false);
  layers.begin_chunk("head");
  x = layers.rmsnorm("norm", "model.norm", layers.selected("row", x), model.hidden);
  layers.head(x, model.tied ? wte : layers.matrix("lm_head.weight", {vocab, model.hidden}));
  layers.end_block();
  layers.finish();
}

}  // namespace spillway
