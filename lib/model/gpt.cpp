#include <cassert>
#include <cmath>

#include "base/math.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

// All heads of causal self-attention over the rows of one fused product qkv [rows, 3 hidden].
View append_attention(Layers& layers, ModelConfig const& model, Arithmetic const& arithmetic,
                      View const& qkv) {
  auto const sequence = div_exact(qkv.shape[0], arithmetic.micro);
  auto const head_size = div_exact(model.hidden, model.heads);
  AttentionAttributes const attributes{.batch = arithmetic.micro,
                                       .queries = sequence,
                                       .keys = sequence,
                                       .heads = model.heads,
                                       .kv_heads = model.heads,
                                       .head_size = head_size,
                                       .causal = true,
                                       .scale = 1 / std::sqrt(static_cast<double>(head_size)),
                                       .tile = arithmetic.attention_tile};
  auto const third = [&](int i) { return columns(qkv, i * model.hidden, model.hidden); };
  return layers.attention("attn", third(0), third(1), third(2), attributes);
}

View append_layer(Layers& layers, ModelConfig const& model, Arithmetic const& arithmetic,
                  std::string const& name, View const& x) {
  // GPT-2: projections into the residual stream start smaller, since 2 x layers of them add up.
  Init const small{Init::Kind::normal,
                   Layers::kNormal.std / std::sqrt(2.0 * static_cast<double>(model.layers))};
  auto const prefix = "transformer." + name;

  layers.begin_block(name, true);
  layers.begin_chunk(name);
  auto const ln_1 = layers.layernorm("ln_1", prefix + ".ln_1", x);
  auto const qkv = layers.linear("qkv", prefix + ".attn.c_attn", ln_1, 3 * model.hidden);
  auto const attended = append_attention(layers, model, arithmetic, qkv);
  auto const middle = layers.residual("proj", prefix + ".attn.c_proj", attended, small, x);
  auto const ln_2 = layers.layernorm("ln_2", prefix + ".ln_2", middle);
  auto const fc = layers.linear("fc", prefix + ".mlp.c_fc", ln_2, model.ffn);
  auto const gelu = layers.activate("gelu", fc, Activation::gelu_tanh);
  auto const result = layers.residual("mlp", prefix + ".mlp.c_proj", gelu, small, middle);
  layers.end_block();
  return result;
}

// To generate, only the row asked for passes the last norm.
void append_head(Layers& layers, View x, View const* wte, std::int64_t vocab, Purpose purpose) {
  layers.begin_block("head", false);
  layers.begin_chunk("head");
  bool const generate = purpose == Purpose::generate;
  if (generate) x = layers.select_row("row", x);
  auto const ln_f = layers.layernorm("ln_f", "transformer.ln_f", x);
  auto const w = wte ? *wte : layers.matrix("lm_head.weight", {vocab, x.shape[1]}, Layers::kNormal);
  if (generate) {
    layers.logits("logits", ln_f, w);
  } else {
    layers.loss("loss", ln_f, w);
  }
  layers.end_block();
}

}  // namespace

void complete_gpt(ModelConfig& model) {
  if (model.ffn == 0) model.ffn = 4 * model.hidden;
}

void append_gpt(Config const& config, std::int64_t vocab, Graph& graph) {
  auto const& model = config.model;
  assert(graph.arithmetic.sequence <= config.data.sequence);
  Layers layers(config, vocab, Orientation::in_out, graph);
  auto const stack = layers.add_stack(graph.arithmetic.sequence);
  layers.add_objective(stack);

  layers.begin_block("embed", false);
  layers.begin_chunk(model.tied ? "wte" : "embed");  // what is shared has a chunk of its own
  auto const wte = layers.embedding("transformer.wte.weight", vocab);
  if (model.tied) layers.begin_chunk("embed");
  auto const wpe = layers.embedding("transformer.wpe.weight", config.data.sequence);
  View x = layers.dropout("drop", layers.embed("embed", stack, wte, wpe));
  layers.end_block();

  for (std::int64_t i = 0; i < model.layers; ++i) {
    x = append_layer(layers, model, graph.arithmetic, "h." + std::to_string(i), x);
  }
  append_head(layers, x, model.tied ? &wte : nullptr, vocab, graph.purpose);
  layers.finish();
}

}  // namespace spillway
