#include <cmath>

#include "base/math.hpp"
#include "model/layers.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

// BERT's norms come behind each sum, not before each branch (Devlin et al., arXiv:1810.04805).
View append_bert_layer(Layers& layers, ModelConfig const& model, Stack const& stack,
                       std::string const& name, View const& x) {
  layers.begin_block(name, true);
  layers.begin_chunk(name);
  auto const at = "bert.encoder." + name;
  auto const self = at + ".attention.self.", out = at + ".attention.output.";
  auto const width = model.hidden, head_size = div_exact(width, model.heads);
  auto const qkv = layers.linear(
      "qkv", {{self + "query", width}, {self + "key", width}, {self + "value", width}}, x);
  auto const third = [&](int i) { return columns(qkv, i * width, width); };
  auto const attended = layers.attention("attn", third(0), third(1), third(2), stack, stack,
                                         {.heads = model.heads,
                                          .kv_heads = model.heads,
                                          .head_size = head_size,
                                          .scale = 1 / std::sqrt(static_cast<double>(head_size))});
  auto const middle = layers.layernorm(
      "ln_1", out + "LayerNorm", layers.residual("proj", {out + "dense", width}, attended, x));
  auto const sum = layers.mlp({.in_op = "fc",
                               .act_op = "act",
                               .in = {{at + ".intermediate.dense", model.ffn}},
                               .out = {at + ".output.dense", width},
                               .form = activation_of(model)},
                              middle, middle);
  auto const result = layers.layernorm("ln_2", at + ".output.LayerNorm", sum);
  layers.end_block();
  return result;
}

// BERT's head has a layer before the product with the vocabulary, and adds a bias to that product.
void append_head(Layers& layers, ModelConfig const& model, View const& x, View const* wte,
                 std::int64_t vocab) {
  layers.begin_block("head", false);
  layers.begin_chunk("head");
  std::string const at = "cls.predictions.";
  auto const row = layers.selected("row", x);
  auto const dense = layers.linear("fc", {{at + "transform.dense", model.hidden}}, row);
  auto const active = layers.activate("act", dense, activation_of(model));
  auto const norm = layers.layernorm("ln", at + "transform.LayerNorm", active);
  auto const w = wte ? *wte : layers.matrix(at + "decoder.weight", {vocab, model.hidden});
  layers.head(norm, w, layers.vector(at + (wte ? "bias" : "decoder.bias"), vocab));
  layers.end_block();
}

}  // namespace

void complete_bert(ModelConfig& model) {
  if (model.ffn == 0) model.ffn = 4 * model.hidden;
  if (model.norm_eps == 0) model.norm_eps = 1e-12;
  if (!model.activation) model.activation = Activation::gelu_erf;
}

void append_bert(Config const& config, std::int64_t vocab, Graph& graph) {
  auto const& model = config.model;
  constexpr bool has_biases = true;
  Layers layers(config, vocab, Orientation::out_in, has_biases, graph);
  auto const stack = layers.add_stack(graph.arithmetic.sequence, {.token_types = true});
  layers.add_objective(stack);

  layers.begin_block("embed", false);
  layers.begin_chunk("wte");
  std::string const at = "bert.embeddings.";
  auto const wte = layers.embedding(at + "word_embeddings.weight", vocab);
  layers.begin_chunk("embed");
  auto const wpe = layers.embedding(at + "position_embeddings.weight", model.positions);
  auto const wtt = layers.embedding(at + "token_type_embeddings.weight", model.token_types);
  auto const sum = layers.embed("embed", stack, wte, wpe, wtt);
  View x = layers.dropout("drop", layers.layernorm("ln", at + "LayerNorm", sum));
  layers.end_block();

  for (std::int64_t i = 0; i < model.layers; ++i)
    x = append_bert_layer(layers, model, stack, "layer." + std::to_string(i), x);
  append_head(layers, model, x, model.tied ? &wte : nullptr, vocab);
  layers.finish();
}

}  // namespace spillway
