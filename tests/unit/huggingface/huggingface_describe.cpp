// Files of transformers' own, and what docs/huggingface.md says that they are.
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_describe_test {
namespace {

struct GoldenCase {
  std::string name;
  Architecture architecture;
  ModelConfig model;
};

std::vector<GoldenCase> golden_others() {
  return {
      {"gpt2",
       Architecture::gpt2,
       {.family = Family::gpt,
        .layers = 2,
        .hidden = 24,
        .heads = 3,
        .ffn = 52,
        .vocab = 61,
        .positions = 32,
        .activation = Activation::relu,
        .tied = false,
        .norm_eps = 1e-6}},
      {"bert",
       Architecture::bert,
       {.family = Family::bert,
        .layers = 2,
        .hidden = 24,
        .heads = 3,
        .ffn = 36,
        .vocab = 67,
        .positions = 32,
        .token_types = 3,
        .activation = Activation::gelu_tanh,
        .tied = true,
        .norm_eps = 1e-10}},
  };
}

std::vector<GoldenCase> golden_llamas() {
  return {
      {"llama",
       Architecture::llama,
       {.family = Family::llama,
        .layers = 3,
        .hidden = 24,
        .heads = 3,
        .kv_heads = 1,
        .head_size = 10,
        .ffn = 44,
        .vocab = 61,
        .tied = true,
        .rope_theta = 5e5,
        .rope_scaling = RopeScaling::llama3,
        .rope_factor = 4,
        .rope_low_freq_factor = 1,
        .rope_high_freq_factor = 4,
        .rope_original_positions = 32,
        .norm_eps = 1e-6}},
      {"qwen2",
       Architecture::qwen2,
       {.family = Family::llama,
        .layers = 3,
        .hidden = 24,
        .heads = 3,
        .kv_heads = 1,
        .head_size = 8,
        .ffn = 44,
        .vocab = 61,
        .tied = false,
        .qkv_bias = true,
        .rope_theta = 1e6,
        .window = 16,
        .window_from = 1,
        .norm_eps = 1e-6}},
      {"qwen3",
       Architecture::qwen3,
       {.family = Family::llama,
        .layers = 3,
        .hidden = 24,
        .heads = 3,
        .kv_heads = 1,
        .head_size = 10,
        .ffn = 44,
        .vocab = 61,
        .tied = false,
        .qk_norm = true,
        .rope_theta = 1e6,
        .rope_scaling = RopeScaling::linear,
        .rope_factor = 2.5,
        .norm_eps = 1e-5}},
      {"mistral",
       Architecture::mistral,
       {.family = Family::llama,
        .layers = 3,
        .hidden = 24,
        .heads = 3,
        .kv_heads = 1,
        .head_size = 8,
        .ffn = 44,
        .vocab = 61,
        .tied = false,
        .rope_theta = 1e4,
        .window = 5,
        .norm_eps = 1e-6}},
  };
}

std::vector<GoldenCase> golden_cases() {
  auto cases = golden_others();
  for (auto const& golden : golden_llamas()) cases.push_back(golden);
  return cases;
}

ModelConfig golden_t5() {
  return {.family = Family::t5,
          .layers = 2,
          .hidden = 24,
          .heads = 3,
          .head_size = 6,
          .decoder_layers = 1,
          .ffn = 36,
          .vocab = 61,
          .activation = Activation::gelu_tanh,
          .gated = true,
          .relative_buckets = 8,
          .relative_max_distance = 12,
          .scale_output = ScaleOutput::no,
          .norm_eps = 1e-6};
}

TEST(DescribeModel, both_spellings_of_transformers_are_the_same_model) {
  for (auto const& golden : golden_cases()) {
    for (auto const* const version : {"-5", "-4"}) {
      auto const found = describe_model(test::golden_config(golden.name + version), "config.json");
      EXPECT_EQ(found.architecture, golden.architecture) << golden.name << version;
      EXPECT_EQ(test::model_text(found.model), test::model_text(golden.model))
          << golden.name << version;
    }
  }
}

// Version 5 always says that T5's head is tied, and leaves it to the tensors.
TEST(DescribeModel, t5_is_tied_as_each_version_says_it) {
  auto expected = golden_t5();
  for (auto const& [version, tied] : {std::pair("-5", true), std::pair("-4", false)}) {
    expected.tied = tied;
    auto const found =
        describe_model(test::golden_config(std::string("t5") + version), "config.json");
    EXPECT_EQ(found.architecture, Architecture::t5);
    EXPECT_EQ(test::model_text(found.model), test::model_text(expected)) << version;
  }
}

}  // namespace
}  // namespace spillway::huggingface_describe_test
