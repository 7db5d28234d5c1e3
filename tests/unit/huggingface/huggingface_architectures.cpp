// Which architecture a model has that was never theirs.
#include "huggingface/architecture.hpp"
#include "model/model.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_architectures_test {
namespace {

ModelConfig small(Family family) {
  Config config;
  config.model = {.family = family, .layers = 2, .hidden = 24, .heads = 3};
  return completed(config, 61);
}

std::string refusal_of(ModelConfig const& model) {
  return test::refused_with([&] { architecture_of(model); });
}

TEST(Architectures, follow_from_family_and_from_what_llamas_differ_in) {
  EXPECT_EQ(architecture_of(small(Family::gpt)), Architecture::gpt2);
  EXPECT_EQ(architecture_of(small(Family::bert)), Architecture::bert);
  EXPECT_EQ(architecture_of(small(Family::t5)), Architecture::t5);
  auto model = small(Family::llama);
  EXPECT_EQ(architecture_of(model), Architecture::llama);
  model.window = 5;
  EXPECT_EQ(architecture_of(model), Architecture::mistral);
  model.window_from = 1;
  EXPECT_EQ(architecture_of(model), Architecture::ministral);
  model.qkv_bias = true;
  EXPECT_EQ(architecture_of(model), Architecture::qwen2);
  model.qkv_bias = false, model.qk_norm = true;
  EXPECT_EQ(architecture_of(model), Architecture::qwen3);
}

TEST(Architectures, a_window_that_no_layer_has_is_none) {
  auto model = small(Family::llama);
  model.window = 5, model.window_from = 2;
  EXPECT_EQ(architecture_of(model), Architecture::llama);
}

// transformers 5 does not load them in LlamaForCausalLM.
TEST(Architectures, heads_that_do_not_divide_hidden_are_those_of_mistral) {
  auto model = small(Family::llama);
  model.hidden = 25;
  EXPECT_EQ(architecture_of(model), Architecture::mistral);
}

TEST(Architectures, a_model_that_none_has_is_refused_by_its_key) {
  auto gpt = small(Family::gpt), llama = small(Family::llama);
  gpt.bias = false;
  EXPECT_EQ(refusal_of(gpt), "model.bias: false: GPT2LMHeadModel has biases, and no other fits");
  llama.qkv_bias = llama.qk_norm = true;
  EXPECT_EQ(refusal_of(llama),
            "model.qk_norm: true with qkv_bias: true: no architecture has both; Qwen3ForCausalLM "
            "has norms alone");
}

TEST(Architectures, have_the_names_of_transformers_and_are_found_by_them) {
  for (auto const architecture : kArchitectures)
    EXPECT_EQ(architecture_named(class_name(architecture)), architecture);
  EXPECT_EQ(class_name(Architecture::t5), "T5ForConditionalGeneration");
  EXPECT_EQ(model_type(Architecture::qwen3), "qwen3");
  EXPECT_FALSE(architecture_named("GPT2Model"));
}

}  // namespace
}  // namespace spillway::huggingface_architectures_test
