#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/tiny_gpt.hpp"

namespace spillway::gpt_test {
namespace {

using test::kTinyVocab, test::tiny_arithmetic, test::tiny_config, test::tiny_forward;

std::map<std::string, Parameter> parameters(Graph const& graph) {
  std::map<std::string, Parameter> result;
  for (auto const& chunk : graph.chunks) {
    for (auto const& parameter : chunk.parameters) result[parameter.name] = parameter;
  }
  return result;
}

std::vector<std::string> chunk_names(Graph const& graph) {
  std::vector<std::string> names;
  for (auto const& chunk : graph.chunks) names.push_back(chunk.name);
  return names;
}

std::int64_t count(Graph const& graph, OpKind kind) {
  return std::ranges::count(graph.ops, kind, &Op::kind);
}

TEST(Gpt, smallest_gpt2_has_its_published_number_of_parameters) {
  Config const config;  // 12 layers, 768 wide, tied
  Arithmetic arithmetic;
  arithmetic.sequence = 1024;
  EXPECT_EQ(build_model(config, 50257, arithmetic, Purpose::train).parameter_count(), 124439808);
}

TEST(Gpt, parameters_have_hugging_faces_names_and_shapes) {
  auto const all = parameters(tiny_forward(tiny_config()));
  EXPECT_EQ(all.size(), 2u + 2 * 12 + 2);
  EXPECT_EQ(all.at("transformer.wte.weight").view.shape, (Shape{kTinyVocab, 32}));
  EXPECT_EQ(all.at("transformer.wpe.weight").view.shape, (Shape{16, 32}));
  EXPECT_EQ(all.at("transformer.h.1.attn.c_attn.weight").view.shape, (Shape{32, 96}));
  EXPECT_EQ(all.at("transformer.h.1.attn.c_attn.bias").view.shape, (Shape{96}));
  EXPECT_EQ(all.at("transformer.h.0.mlp.c_proj.weight").view.shape, (Shape{128, 32}));
  EXPECT_EQ(all.at("transformer.ln_f.bias").view.shape, (Shape{32}));
}

TEST(Gpt, auto_stands_for_the_familys_values) {
  Config config;
  config.model.hidden = 96;
  config.data.sequence = 50;
  EXPECT_EQ(completed(config, 300).ffn, 384);
  EXPECT_EQ(completed(config, 300).vocab, 300);
  EXPECT_EQ(completed(config, 300).positions, 50);
  config.model.ffn = 7;
  EXPECT_EQ(completed(config, 300).ffn, 7);
}

TEST(Gpt, chunks_are_in_execution_order_for_every_purpose) {
  auto config = tiny_config();
  for (auto const purpose : {Purpose::train, Purpose::eval, Purpose::generate}) {
    std::vector<std::string> const tied{"wte", "embed", "h.0", "h.1", "head"};
    config.model.tied = true;
    EXPECT_EQ(chunk_names(tiny_forward(config, purpose)), tied);
    std::vector<std::string> const untied{"embed", "h.0", "h.1", "head"};
    config.model.tied = false;
    EXPECT_EQ(chunk_names(tiny_forward(config, purpose)), untied);
  }
}

TEST(Gpt, all_purposes_share_one_layout_of_parameters) {
  auto config = tiny_config();
  config.model.tied = false;
  auto const train = tiny_forward(config);
  for (auto const purpose : {Purpose::eval, Purpose::generate}) {
    auto const other = tiny_forward(config, purpose);
    for (std::size_t c = 0; c < train.chunks.size(); ++c) {
      ASSERT_EQ(other.chunks[c].elements, train.chunks[c].elements);
      for (std::size_t p = 0; p < train.chunks[c].parameters.size(); ++p) {
        EXPECT_EQ(other.chunks[c].parameters[p].name, train.chunks[c].parameters[p].name);
        EXPECT_EQ(other.chunks[c].parameters[p].view.offset,
                  train.chunks[c].parameters[p].view.offset);
      }
    }
  }
}

TEST(Gpt, only_matrices_of_layers_decay_unless_all_do) {
  auto config = tiny_config();
  auto all = parameters(tiny_forward(config));
  EXPECT_TRUE(all.at("transformer.h.0.attn.c_attn.weight").decay);
  EXPECT_TRUE(all.at("transformer.h.0.mlp.c_proj.weight").decay);
  EXPECT_FALSE(all.at("transformer.h.0.mlp.c_proj.bias").decay);
  EXPECT_FALSE(all.at("transformer.h.0.ln_1.weight").decay);
  EXPECT_FALSE(all.at("transformer.wte.weight").decay);
  EXPECT_FALSE(all.at("transformer.wpe.weight").decay);
  config.optim.decay_all = true;
  for (auto const& [name, parameter] : parameters(tiny_forward(config))) {
    EXPECT_TRUE(parameter.decay) << name;
  }
}

TEST(Gpt, parameters_start_as_gpt2s_do) {
  auto const all = parameters(tiny_forward(tiny_config()));
  EXPECT_EQ(all.at("transformer.wte.weight").init.std, 0.02);
  EXPECT_EQ(all.at("transformer.h.0.mlp.c_fc.weight").init.std, 0.02);
  EXPECT_EQ(all.at("transformer.h.0.mlp.c_proj.weight").init.std, 0.01);  // 0.02 / sqrt(2 x 2)
  EXPECT_EQ(all.at("transformer.h.0.mlp.c_proj.bias").init.kind, Init::Kind::zeros);
  EXPECT_EQ(all.at("transformer.ln_f.weight").init.kind, Init::Kind::ones);
}

TEST(Gpt, without_bias_no_parameter_is_one) {
  auto config = tiny_config();
  config.model.bias = false;
  for (auto const& [name, parameter] : parameters(tiny_forward(config))) {
    EXPECT_EQ(name.find(".bias"), std::string::npos);
  }
}

TEST(Gpt, dropout_is_for_training_and_sits_in_three_places) {
  auto config = tiny_config();
  EXPECT_EQ(count(tiny_forward(config), OpKind::dropout), 0);
  EXPECT_EQ(tiny_forward(config).known.of(BatchField::samples), -1);
  config.model.dropout = 0.1;
  auto const graph = tiny_forward(config);
  EXPECT_EQ(count(graph, OpKind::dropout), 1 + 2 * 2);
  EXPECT_EQ(count(graph, OpKind::add), 2 * 2);
  EXPECT_GE(graph.known.of(BatchField::samples), 0);
  std::set<std::uint64_t> origins;
  for (auto const& op : graph.ops) {
    if (op.kind == OpKind::dropout) origins.insert(attributes_of<DropoutAttributes>(op).origin);
  }
  EXPECT_EQ(origins.size(), 5u);
  EXPECT_EQ(count(tiny_forward(config, Purpose::eval), OpKind::dropout), 0);
}

// Each of the two alone.
TEST(Gpt, dropout_of_attention_is_inside_its_op) {
  auto const attention = [](Graph const& graph) -> Op const& {
    return *std::ranges::find(graph.ops, OpKind::attention, &Op::kind);
  };
  auto config = tiny_config();
  config.run.seed = 9;
  config.model.dropout = 0.1;
  auto const outside = tiny_forward(config);
  EXPECT_EQ(attributes_of<AttentionAttributes>(attention(outside)).dropout, 0);
  EXPECT_EQ(attributes_of<AttentionAttributes>(attention(outside)).seed, 0u);
  EXPECT_FALSE(is_present(attention(outside).inputs[6]));
  config.model.dropout = 0;
  config.model.attention_dropout = 0.25;
  auto const inside = tiny_forward(config);
  EXPECT_EQ(count(inside, OpKind::dropout), 0);
  EXPECT_EQ(count(inside, OpKind::add), 0);
  EXPECT_EQ(attributes_of<AttentionAttributes>(attention(inside)).dropout, 0.25);
  EXPECT_EQ(attributes_of<AttentionAttributes>(attention(inside)).seed, 9u);
  auto const samples = inside.known.of(BatchField::samples);
  EXPECT_GE(samples, 0);
  EXPECT_EQ(attention(inside).inputs[6].tensor, samples);
}

TEST(Gpt, blocks_cover_the_forward_ops) {
  auto const graph = tiny_forward(tiny_config());
  ASSERT_EQ(graph.blocks.size(), 4u);
  int next = 0;
  for (auto const& block : graph.blocks) {
    EXPECT_EQ(block.first_op, next);
    EXPECT_EQ(block.layer, block.name.starts_with("h."));
    next = block.last_op;
  }
  EXPECT_EQ(next, static_cast<int>(graph.ops.size()));
}

TEST(Gpt, generate_takes_one_sequence_to_the_logits_of_one_row) {
  auto const graph = tiny_forward(tiny_config(), Purpose::generate);
  auto const& known = graph.known;
  EXPECT_EQ(graph.tensors[static_cast<std::size_t>(known.of(BatchField::tokens))].shape, Shape{16});
  EXPECT_EQ(graph.tensors[static_cast<std::size_t>(known.logits)].shape, (Shape{1, kTinyVocab}));
  EXPECT_EQ(graph.ops.back().outputs[0].tensor, known.logits);
  EXPECT_EQ(known.loss, -1);
}

// 8/3 of the width, rounded up once.
TEST(Llama, auto_of_ffn_is_a_multiple_of256) {
  for (auto const& [hidden, ffn] :
       {std::pair(32, 256), std::pair(96, 256), std::pair(97, 512), std::pair(4096, 11008)}) {
    Config config;
    config.model.family = Family::llama;
    config.model.hidden = hidden;
    config.model.heads = 1;
    EXPECT_EQ(completed(config, 300).ffn, ffn) << hidden;
  }
}

TEST(Llama, auto_of_heads_goes_by_their_number) {
  Config config;
  config.model.family = Family::llama;
  config.model.hidden = 96, config.model.heads = 6;
  EXPECT_EQ(completed(config, 300).head_size, 16);
  EXPECT_EQ(completed(config, 300).kv_heads, 6);
  config.model.head_size = 10, config.model.kv_heads = 2;
  EXPECT_EQ(completed(config, 300).head_size, 10);
  EXPECT_EQ(completed(config, 300).kv_heads, 2);
}

}  // namespace
}  // namespace spillway::gpt_test
