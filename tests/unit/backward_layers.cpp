// The gradients of layers as models of Llama's, Qwen's, T5's and BERT's shape put them together,
// against differences of the loss.
#include <gtest/gtest.h>

#include <cmath>

#include "model/layers.hpp"
#include "tests/support/finite_differences.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kHidden = 16, kSequence = 8, kHeads = 4, kKvHeads = 2, kHeadSize = 4;
constexpr std::int64_t kQ = kHeads * kHeadSize, kK = kKvHeads * kHeadSize;

Config config_with(bool bias) {
  Config config = tiny_config();
  config.model.hidden = kHidden;
  config.model.bias = bias;
  config.data.sequence = kSequence;
  return config;
}

// What `append(layers, stack)` writes, with its backward pass.
template <class F>
Graph training_graph(Config const& config, F const& append) {
  Graph graph;
  graph.arithmetic = tiny_arithmetic(config);
  graph.seed = 5;
  Layers layers(config, kTinyVocab, Orientation::out_in, graph);
  auto const stack = layers.add_stack(kSequence);
  layers.add_objective(stack);
  append(layers, stack);
  layers.finish();
  append_backward(graph);
  append_update(graph, {});
  return graph;
}

void expect_gradients(Graph graph) {
  FiniteDifferences differences(std::move(graph), 3);
  auto const wrong = differences.disagreement();
  EXPECT_FALSE(wrong) << describe(*wrong);
}

AttentionAttributes attention(bool causal) {
  return {.batch = 2,
          .queries = kSequence,
          .keys = kSequence,
          .heads = kHeads,
          .kv_heads = kKvHeads,
          .head_size = kHeadSize,
          .causal = causal,
          .scale = 1 / std::sqrt(static_cast<double>(kHeadSize)),
          .tile = 8};
}

void begin_block(Layers& layers, std::string const& name) {
  layers.begin_block(name, true);
  layers.begin_chunk(name);
}

// Qwen3 norms the heads of q and k before they turn; Llama turns them at once, in one product.
View append_llama_layer(Layers& layers, Stack const& stack, std::string const& name, View const& x,
                        bool norms_heads, RopeAttributes turn) {
  begin_block(layers, name);
  auto const ln_1 = layers.rmsnorm("ln_1", name + ".ln_1", x, kHidden);
  auto const qkv = layers.linear("qkv", name + ".qkv", ln_1, kQ + 2 * kK);
  turn.head_size = kHeadSize;
  View q, k, v = columns(qkv, kQ + kK, kK);
  if (norms_heads) {
    auto const part = [&](std::string const& op, std::int64_t first, std::int64_t heads) {
      auto const normal = layers.rmsnorm(op + "_norm", name + "." + op,
                                         columns(qkv, first, heads * kHeadSize), kHeadSize);
      turn.heads = heads;
      return layers.rope(op + "_rope", normal, stack, turn);
    };
    q = part("q", 0, kHeads);
    k = part("k", kQ, kKvHeads);
  } else {
    turn.heads = kHeads + kKvHeads;
    auto const turned = layers.rope("rope", qkv, stack, turn);
    q = columns(turned, 0, kQ);
    k = columns(turned, kQ, kK);
    v = columns(turned, kQ + kK, kK);
  }
  auto const attended = layers.attention("attn", q, k, v, attention(true));
  auto const middle = layers.residual("proj", name + ".proj", attended, Layers::kNormal, x);
  auto const ln_2 = layers.rmsnorm("ln_2", name + ".ln_2", middle, kHidden);
  auto const fused = layers.linear("gate_up", name + ".gate_up", ln_2, 2 * 24);
  auto const inner = layers.gated("act", fused, Activation::silu);
  auto const result = layers.residual("down", name + ".down", inner, Layers::kNormal, middle);
  layers.end_block();
  return result;
}

TEST(BackwardOfLayers, OfLlamaAndQwenIsTheLossesDerivative) {
  expect_gradients(training_graph(config_with(false), [](Layers& layers, Stack const& stack) {
    begin_block(layers, "embed");
    auto const wte = layers.embedding("wte", kTinyVocab);
    auto x = layers.embed("embed", stack, wte);
    layers.end_block();
    x = append_llama_layer(layers, stack, "h.0", x, true, {.theta = 100});
    x = append_llama_layer(
        layers, stack, "h.1", x, false,
        {.theta = 100, .scaling = RopeScaling::llama3, .factor = 8, .original_max_position = 16});
    begin_block(layers, "head");
    layers.loss("loss", layers.rmsnorm("ln_f", "ln_f", x, kHidden), wte);
    layers.end_block();
  }));
}

TEST(BackwardOfLayers, OfT5IsTheLossesDerivative) {
  expect_gradients(training_graph(config_with(false), [](Layers& layers, Stack const& stack) {
    begin_block(layers, "embed");
    auto const wte = layers.embedding("wte", kTinyVocab);
    auto x = layers.embed("embed", stack, wte);
    layers.end_block();
    begin_block(layers, "h.0");
    auto const ln = layers.rmsnorm("ln", "ln", x, kHidden);
    auto const fc = layers.linear("fc", "fc", ln, 24);
    auto const relu = layers.activate("relu", fc, Activation::relu);
    x = layers.residual("down", "down", relu, Layers::kNormal, x);
    layers.end_block();
    begin_block(layers, "head");
    layers.loss("loss", layers.rmsnorm("ln_f", "ln_f", x, kHidden), wte, {}, 0.25);
    layers.end_block();
  }));
}

TEST(BackwardOfLayers, OfBertIsTheLossesDerivative) {
  expect_gradients(training_graph(config_with(true), [](Layers& layers, Stack const& stack) {
    begin_block(layers, "embed");
    auto const wte = layers.embedding("wte", kTinyVocab);
    auto const wpe = layers.embedding("wpe", kSequence + 3);
    auto const types = layers.embedding("wtt", 2);
    auto x = layers.layernorm("ln", "ln", layers.embed("embed", stack, wte, wpe, types));
    layers.end_block();
    begin_block(layers, "h.0");
    auto const qkv = layers.linear("qkv", "qkv", x, kQ + 2 * kK);
    auto const attended = layers.attention("attn", columns(qkv, 0, kQ), columns(qkv, kQ, kK),
                                           columns(qkv, kQ + kK, kK), attention(false));
    x = layers.layernorm("ln_1", "ln_1",
                         layers.residual("proj", "proj", attended, Layers::kNormal, x));
    layers.end_block();
    begin_block(layers, "head");
    auto const fc = layers.linear("fc", "fc", x, kHidden);
    auto const gelu = layers.activate("gelu", fc, Activation::gelu_erf);
    layers.loss("loss", layers.layernorm("ln_f", "ln_f", gelu), wte,
                layers.bias("decoder", kTinyVocab));
    layers.end_block();
  }));
}

}  // namespace
}  // namespace spillway::test
