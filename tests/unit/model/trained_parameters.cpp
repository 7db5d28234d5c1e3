// What model.freeze and model.lora make of a model's graphs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/adapters.hpp"
#include "tests/support/family_case.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::trained_parameters_test {
namespace {

using test::family_case, test::tiny_forward, test::tiny_training_graph;
using Names = std::set<std::string>;
using Keys = std::vector<std::string>;

Config config_of(Keys const& keys) {
  return family_case("", keys).config;
}

Names trained(Graph const& graph) {
  Names names;
  for (Chunk const& chunk : graph.chunks)
    for (Parameter const& parameter : chunk.parameters)
      if (chunk.trainable) names.insert(parameter.name);
  return names;
}

std::string refusal(Keys const& keys) {
  auto const config = config_of(keys);
  return test::refused_with([&] { tiny_forward(config); });
}

Keys const kLlama = {"model.family=llama", "model.kv_heads=1", "model.tied=false"};

Keys llama(Keys const& more) {
  Keys keys = kLlama;
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

TEST(Freeze, parts_a_block_into_what_is_trained_and_what_is_not) {
  auto const graph = tiny_training_graph(
      config_of({"model.freeze=[transformer.wte.weight, '*.h.0.*', '*.h.1.ln_?.*']"}));
  Names names, kept;
  for (Chunk const& chunk : graph.chunks) {
    names.insert(chunk.name);
    EXPECT_EQ(chunk.gradient >= 0, chunk.trainable) << chunk.name;
    EXPECT_EQ(chunk.states.empty(), !chunk.trainable) << chunk.name;
    EXPECT_EQ(chunk.norm >= 0, chunk.trainable) << chunk.name;
  }
  EXPECT_EQ(names, (Names{"wte", "embed", "h.0", "h.1", "h.1.trained", "head"}));
  for (auto const& name : trained(graph)) {
    EXPECT_FALSE(name.starts_with("transformer.h.0."));
    EXPECT_EQ(name.find("h.1.ln_"), name.npos) << name;
  }
  EXPECT_LT(graph.trained_parameter_count(), graph.parameter_count());
}

TEST(Freeze, ends_the_backward_pass_at_the_lowest_trained_parameter) {
  auto const graph = tiny_training_graph(
      config_of({"model.freeze=['*.wte.*', '*.wpe.*', '*.h.0.*', '*.h.1.ln_1.*']"}));
  std::map<std::string, int> ops;
  for (Op const& op : graph.ops) {
    if (op.phase == Phase::backward) ++ops[graph.blocks[op.block].name];
    EXPECT_NE(op.name, "h.1/qkv.da");
    EXPECT_FALSE(op.name.starts_with("h.1/ln_1.")) << op.name;
  }
  EXPECT_EQ(ops.size(), 2u);
  EXPECT_GT(ops["h.1"], 0);
  EXPECT_GT(ops["head"], 0);
}

TEST(Freeze, makes_no_gradient_of_a_frozen_head_or_of_a_frozen_mlp_by_tiles) {
  auto config = config_of({"model.freeze=['*.wte.*', '*.mlp.*']", "batch.mlp_chunk=8"});
  auto const graph = tiny_training_graph(config);
  int seen = 0;
  for (Op const& op : graph.ops) {
    if (op.kind == OpKind::lm_head_loss_backward) {
      ++seen;
      EXPECT_FALSE(is_present(operands<OpKind::lm_head_loss_backward>(op).dw));
      EXPECT_EQ(op.flops, 2 * graph.op(op.origin).flops);
    }
    if (op.kind != OpKind::mlp_backward) continue;
    ++seen;
    auto const o = operands<OpKind::mlp_backward>(op);
    for (View const* const view : {&o.dw_in, &o.dbias_in, &o.dw_out, &o.dbias_out})
      EXPECT_FALSE(is_present(*view));
    EXPECT_EQ(op.flops, graph.op(op.origin).flops);
  }
  EXPECT_EQ(seen, 1 + config.model.layers);
}

TEST(Freeze, that_cannot_be_is_refused_by_name) {
  EXPECT_EQ(refusal(llama({"model.freeze=['*.q_proj.weight']"})),
            "model.freeze: it names model.layers.0.self_attn.q_proj.weight and not "
            "model.layers.0.self_attn.k_proj.weight, and one product reads both; freeze both or "
            "neither");
  EXPECT_EQ(refusal({"model.freeze=transformer.wte.wieght"}),
            "model.freeze: no parameter of this model fits transformer.wte.wieght; did you mean "
            "transformer.wte.weight?");
  auto const advice = [](Keys const& keys) {
    auto const said = refusal(keys);
    return said.substr(said.find("; ") + 2);
  };
  EXPECT_EQ(advice(llama({"model.freeze=q_proj"})),
            "patterns are compared with whole names: did you mean *q_proj*?");
  EXPECT_EQ(advice(llama({"model.freeze=q_prj"})), "did you mean *q_proj*?");
  EXPECT_EQ(advice(llama({"model.freeze=*.q_prj.*"})), "did you mean *.q_proj.*?");
  EXPECT_EQ(advice(llama({"model.freeze=lm_head*", "model.tied=true"})),
            "the head is tied to the embedding, whose table is model.embed_tokens.weight");
  EXPECT_EQ(advice(llama({"model.freeze=zzzzzzzzzz", "model.tied=true"})),
            "they have names such as model.embed_tokens.weight, "
            "model.layers.1.input_layernorm.weight and model.norm.weight");
  EXPECT_EQ(refusal({"model.freeze=*"}),
            "model.freeze: all parameters are frozen, and nothing is left to train");
}

TEST(TrainedWords, say_what_is_trained_and_how_the_rest_is_kept) {
  auto const words = [](Keys const& keys) { return trained_words(config_of(keys).model); };
  EXPECT_EQ(words(llama({})), "");
  EXPECT_EQ(words(llama({"model.freeze=*norm*", "model.quantize=int8"})),
            "all but *norm*; frozen matrices in int8");
  EXPECT_EQ(words(llama({"model.lora.rank=4", "model.quantize=nf4"})),
            "adapters (LoRA) of rank 4, alpha 8, of q, v; frozen matrices in nf4");
}

TEST(Lora, trains_adapters_alone) {
  auto const config = config_of(llama({"model.lora.rank=4"}));
  auto const graph = tiny_training_graph(config);
  Names expected;
  for (int layer = 0; layer < 2; ++layer)
    for (auto const* at : {"q_proj.lora_A", "q_proj.lora_B", "v_proj.lora_A", "v_proj.lora_B"})
      expected.insert(fmt::format("model.layers.{}.self_attn.{}.weight", layer, at));
  EXPECT_EQ(trained(graph), expected);
  // A [4, 32] and B [32, 4] of q, A [4, 32] and B [16, 4] of v, in two layers.
  EXPECT_EQ(graph.trained_parameter_count(), 2 * (4 * 32 + 32 * 4 + 4 * 32 + 16 * 4));
}

TEST(Lora, leaves_products_that_lie_side_by_side_one_product) {
  auto const graph = tiny_training_graph(config_of(llama({"model.lora.rank=4"})));
  int products = 0, added = 0;
  for (Op const& op : graph.ops) {
    if (op.block != 1 || op.phase != Phase::forward || op.kind != OpKind::matmul) continue;
    ++products;
    auto const c = operands<OpKind::matmul>(op).c;
    if (op.in_place.empty()) continue;
    ++added;
    EXPECT_EQ(graph.tensor(c).name, "layers.0/qkv") << op.name;
  }
  EXPECT_EQ(products, 4 + 2 * 2);
  EXPECT_EQ(added, 2);
}

TEST(Lora, adds_what_its_factors_cost) {
  auto const flops = [](Keys const& keys) {
    double sum = 0;
    for (Op const& op : tiny_forward(config_of(keys)).ops) sum += op.flops;
    return sum;
  };
  double const rows = 2 * 16, of_q = 2 * rows * 4 * (32 + 32), of_v = 2 * rows * 4 * (32 + 16);
  EXPECT_DOUBLE_EQ(flops(llama({"model.lora.rank=4"})), flops(kLlama) + 2 * (of_q + of_v));
}

TEST(Lora, adapts_the_layers_that_are_named) {
  auto const adapted = [](Keys const& keys) {
    Names layers;
    for (auto const& name : trained(tiny_forward(config_of(keys)))) {
      auto const layer = adapted_layer(name).value();
      if (layer.find(".1.") == layer.npos) layers.insert(layer);
    }
    return layers;
  };
  std::string const gpt = "transformer.h.0.", bert = "bert.encoder.layer.0.";
  EXPECT_EQ(adapted({"model.lora={rank: 2}"}), Names{gpt + "attn.c_attn"});
  EXPECT_EQ(adapted({"model.lora={rank: 2, targets: [o, down]}"}),
            (Names{gpt + "attn.c_proj", gpt + "mlp.c_proj"}));
  EXPECT_EQ(adapted({"model.lora={rank: 2, targets: c_proj}"}),
            (Names{gpt + "attn.c_proj", gpt + "mlp.c_proj"}));
  EXPECT_EQ(
      adapted({"model.lora={rank: 2, targets: all}"}),
      (Names{gpt + "attn.c_attn", gpt + "attn.c_proj", gpt + "mlp.c_fc", gpt + "mlp.c_proj"}));
  EXPECT_EQ(adapted({"model.family=bert", "model.lora={rank: 2, targets: [o]}"}),
            Names{bert + "attention.output.dense"});
  EXPECT_EQ(adapted({"model.family=bert", "model.lora={rank: 2, targets: [down]}"}),
            Names{bert + "output.dense"});
}

TEST(Lora, that_cannot_be_is_refused_by_name) {
  EXPECT_EQ(refusal(llama({"model.lora={rank: 4, targets: [q, c_attn]}"})),
            "model.lora.targets: c_attn is no linear layer of this model; give some of all, q, k, "
            "v, o, gate, up, down (or of down_proj, gate_proj, k_proj, o_proj, q_proj, up_proj, "
            "v_proj)");
  for (auto const& [target, near] : {std::pair("q_prj", "q_proj"), std::pair("all-linear", "all"),
                                     std::pair("Q-proj", "q_proj")})
    EXPECT_NE(refusal(llama({fmt::format("model.lora={{rank: 4, targets: {}}}", target)}))
                  .find(fmt::format("{} is no linear layer of this model; did you mean {}?; give",
                                    target, near)),
              std::string::npos);
  EXPECT_EQ(refusal(llama({"model.lora={rank: 4, targets: up}", "batch.mlp_chunk=8"})),
            "batch.mlp_chunk: an MLP with adapters takes all rows at once; leave it out, or leave "
            "its layers out of model.lora.targets");
}

// Returns the ops of a block that make a matrix of bytes, or that read one.
Names readers(Graph const& graph, int block, Phase phase) {
  Names names;
  for (Op const& op : graph.ops) {
    if (op.block != block || op.phase != phase) continue;
    for (View const& view : op.inputs) {
      if (!is_present(view)) continue;
      auto const& tensor = graph.tensor(view);
      if (tensor.dtype == DType::u8 || tensor.name.ends_with(".weights") ||
          tensor.name.find("again(") != std::string::npos)
        names.insert(op.name);
    }
  }
  return names;
}

TEST(Quantize, keeps_bytes_of_what_is_frozen_of_layers_and_nothing_else) {
  auto const graph =
      tiny_training_graph(config_of(llama({"model.lora.rank=4", "model.quantize=nf4"})));
  std::map<std::string, int> quantized;
  for (Chunk const& chunk : graph.chunks) {
    for (Parameter const& parameter : chunk.parameters) {
      EXPECT_EQ(parameter.is_quantized(), chunk.name.ends_with(".quantized")) << parameter.name;
      quantized[chunk.name] += parameter.is_quantized() ? 1 : 0;
    }
    bool const has_bytes = graph.tensors[chunk.parameter].dtype == DType::u8;
    EXPECT_EQ(has_bytes, chunk.name.ends_with(".quantized")) << chunk.name;
    EXPECT_TRUE(!has_bytes || !chunk.trainable);
  }
  EXPECT_EQ(quantized["layers.0.quantized"], 7);
  EXPECT_EQ(quantized["layers.1.quantized"], 7);
  auto const plain = tiny_training_graph(config_of(llama({"model.lora.rank=4"})));
  EXPECT_EQ(graph.parameter_count(), plain.parameter_count());
  EXPECT_EQ(graph.trained_parameter_count(), plain.trained_parameter_count());
}

TEST(Quantize, makes_matrices_for_the_products_that_read_them_and_not_for_others) {
  auto const graph =
      tiny_training_graph(config_of(llama({"model.lora.rank=4", "model.quantize=int8"})));
  std::string const at = "layers.1/";
  EXPECT_EQ(readers(graph, 2, Phase::forward),
            (Names{at + "qkv.q_proj.dequantize", at + "qkv.k_proj.dequantize",
                   at + "qkv.v_proj.dequantize", at + "qkv", at + "proj.dequantize", at + "proj",
                   at + "gate_up.gate_proj.dequantize", at + "gate_up.up_proj.dequantize",
                   at + "gate_up", at + "mlp.dequantize", at + "mlp"}));
  EXPECT_EQ(readers(graph, 2, Phase::backward),
            (Names{at + "qkv.again", at + "qkv.da", at + "proj.again", at + "proj.da",
                   at + "gate_up.again", at + "gate_up.da", at + "mlp.again", at + "mlp.da"}));
  // Nothing before the lowest adapters is trained, so their product has no backward op.
  EXPECT_EQ(readers(graph, 1, Phase::backward).count("layers.0/qkv.da"), 0u);
  EXPECT_EQ(readers(graph, 1, Phase::backward).count("layers.0/qkv.again"), 0u);
}

TEST(Quantize, turns_the_matrices_of_gpt_over) {
  auto const graph = tiny_training_graph(config_of({"model.lora.rank=4", "model.quantize=nf4"}));
  for (Op const& op : graph.ops) {
    if (op.name != "h.0/fc.dequantize") continue;
    EXPECT_EQ(operands<OpKind::dequantize>(op).w.shape, (Shape{128, 32}));
  }
  for (Chunk const& chunk : graph.chunks)
    for (Parameter const& parameter : chunk.parameters)
      if (parameter.name == "transformer.h.0.mlp.c_fc.weight") {
        EXPECT_EQ(parameter.shape(), (Shape{32, 128}));
        EXPECT_EQ(parameter.quantized.rows(), 128);
      }
}

TEST(Quantize, that_finds_nothing_is_refused) {
  EXPECT_EQ(
      refusal({"model.freeze=['*.wte.*', '*.ln_?.*']", "model.quantize=nf4"}),
      "model.quantize: no matrix of a layer is frozen; name some in model.freeze, or leave it "
      "out");
}

TEST(Chunks, and_parameters_have_the_same_order_for_every_purpose) {
  for (auto const& [name, keys, config] : test::family_cases()) {
    auto const train = tiny_forward(config);
    for (auto const purpose : {Purpose::eval, Purpose::generate}) {
      auto const other = tiny_forward(config, purpose);
      ASSERT_EQ(train.chunks.size(), other.chunks.size()) << name;
      for (std::size_t c = 0; c < train.chunks.size(); ++c) {
        EXPECT_EQ(train.chunks[c].name, other.chunks[c].name) << name;
        EXPECT_EQ(train.chunks[c].elements, other.chunks[c].elements) << name;
      }
    }
  }
}

}  // namespace
}  // namespace spillway::trained_parameters_test
