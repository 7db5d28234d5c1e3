// Graphs of all families and purposes, of which every word and number is in a checksum: a change of
// a graph that no result shows, such as what an op is said to cost, shows here.
#include <gtest/gtest.h>

#include "base/checksum.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/unit/model/graph_text.hpp"

namespace spillway::frozen_graphs_test {
namespace {

using test::tiny_arithmetic, test::tiny_config;

struct Case {
  char const* name;
  void (*change)(Config&);
  std::array<char const*, 4> checksums;  // to train, evaluate, begin to generate and go on
};

// No two sizes are equal, and no setting is what it is by default, in one of each family's.
Case const kCases[] = {
    {"gpt",
     [](Config&) {},
     {"a35b0aaaa4f22ad2", "678462394345e896", "c0041d1a30a4c706", "81bf35e5dc33bb44"}},
    {"gpt_other",
     [](Config& c) {
       c.model.tied = c.model.bias = false;
       c.model.dropout = 0.1, c.model.attention_dropout = 0.2;
       c.model.ffn = 40, c.model.positions = 19, c.model.norm_eps = 1e-3;
       c.model.activation = Activation::relu;
       c.data.pack = true;
       c.precision = Precision::bf16;
       c.optim.gradients = c.optim.moments = Precision::bf16, c.optim.decay_embeddings = true;
       c.run.seed = 99;
     },
     {"0bc12c3a7efa14e8", "e9ff0d704317ade9", "eb7f122994720f0a", "05cc92fcfcbf7d54"}},
    {"bert",
     [](Config& c) { c.model.family = Family::bert; },
     {"2ae7441e5fa3f336", "5bf7f69eb1ddf009", "92c7d9cb4c05a5cb", "0733179d29a76552"}},
    {"bert_other",
     [](Config& c) {
       c.model.family = Family::bert;
       c.model.tied = false;
       c.model.dropout = 0.1, c.model.attention_dropout = 0.2;
       c.model.ffn = 40, c.model.positions = 19, c.model.norm_eps = 1e-3, c.model.token_types = 3;
       c.model.activation = Activation::silu;
       c.data.pack = true;
       c.optim.decay_all = true;
     },
     {"649fe18e6000995f", "5ff5d413eecc543e", "af1ec6e30883b39c", "d4659dddece94775"}},
    {"llama",
     [](Config& c) { c.model.family = Family::llama; },
     {"83e7af4f78738e22", "38f5145af3afffe9", "3f246cd2706a6835", "51ac8ead18215aee"}},
    {"llama_other",
     [](Config& c) {
       c.model.family = Family::llama;
       c.model.heads = 4, c.model.kv_heads = 2, c.model.head_size = 6, c.model.ffn = 40;
       c.model.tied = false, c.model.qkv_bias = true;
       c.model.window = 5, c.model.window_from = 1;
       c.model.rope_theta = 5e5, c.model.rope_factor = 8;
       c.model.rope_low_freq_factor = 2, c.model.rope_high_freq_factor = 3;
       c.model.rope_scaling = RopeScaling::llama3, c.model.rope_original_positions = 11;
       c.model.dropout = 0.1, c.model.attention_dropout = 0.2, c.model.norm_eps = 1e-3;
       c.data.pack = true;
     },
     {"f4496a9995759ec0", "c30dafe0fae2c203", "cffa40b5fcfaa3b4", "89a80a1c3203246d"}},
    {"llama_norms",
     [](Config& c) {
       c.model.family = Family::llama;
       c.model.heads = 4, c.model.kv_heads = 2, c.model.head_size = 6, c.model.qk_norm = true;
       c.model.rope_scaling = RopeScaling::linear, c.model.rope_factor = 2;
     },
     {"95f419202013edd9", "7ee98213a11f5029", "c380500bc42a2e49", "696dbb3ac5aca4bb"}},
    {"t5",
     [](Config& c) { c.model.family = Family::t5; },
     {"e956079c2f96d3f9", "d64226eccc8aabee", "91b88f48811ef582", "7d7fc771671cf2f2"}},
    {"t5_other",
     [](Config& c) {
       c.model.family = Family::t5;
       c.model.gated = true, c.model.tied = false, c.model.decoder_layers = 1;
       c.model.head_size = 6, c.model.ffn = 40;
       c.model.relative_buckets = 10, c.model.relative_max_distance = 14;
       c.model.dropout = 0.1, c.model.attention_dropout = 0.2, c.model.norm_eps = 1e-3;
       c.data.pack = true, c.data.target_length = 9;
     },
     {"a02f392987c014aa", "830a674a8eaccbec", "ab8b6d79f8fdf17f", "fc42cac7fb341060"}},
    {"t5_not_scaled",
     [](Config& c) { c.model.family = Family::t5, c.model.scale_output = ScaleOutput::no; },
     {"dd37135f86d8d2fa", "573a1416677f2137", "c039785ce8400b27", "0367036f50ae6981"}},
};

std::string sum(Graph const& graph) {
  auto const all = test::text(graph);
  return checksum_text(checksum(std::as_bytes(std::span(all))));
}

TEST(FrozenGraphs, are_those_of_the_table) {
  constexpr std::int64_t vocab = 61;
  for (auto const& [name, change, checksums] : kCases) {
    auto config = tiny_config();
    change(config);
    config.optim.beta1 = 0.8, config.optim.beta2 = 0.7;
    config.optim.eps = 1e-6, config.optim.weight_decay = 0.3;
    auto const arithmetic = tiny_arithmetic(config, 3);
    auto train = build_model(config, vocab, arithmetic, Purpose::train);
    append_backward(train);
    append_update(train);
    std::vector<Graph> const graphs = {
        std::move(train), build_model(config, vocab, arithmetic, Purpose::eval),
        build_generator(config, vocab, arithmetic, {7, 16, 12, true}),
        build_generator(config, vocab, arithmetic, {1, 16, 12, false})};
    for (std::size_t i = 0; i < graphs.size(); ++i)
      EXPECT_EQ(sum(graphs[i]), checksums[i]) << name << ", " << i;
  }
}

}  // namespace
}  // namespace spillway::frozen_graphs_test
