// What is written for a model, with and without the file that it came from.
#include "huggingface/tensor_types.hpp"
#include "model/model.hpp"
#include "tests/support/frozen.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_export_test {
namespace {

using test::golden_config;
using test::Json;
using test::model_text;

std::string const kNew;  // in place of an original

std::vector<std::string> const& golden_names() {
  static std::vector<std::string> const names = {
      "gpt2-5",  "gpt2-4",  "bert-5",  "bert-4",  "t5-5",    "t5-4",      "llama-5",
      "llama-4", "qwen2-5", "qwen2-4", "qwen3-5", "qwen3-4", "mistral-5", "mistral-4"};
  return names;
}

ModelDescription again(std::string const& json) {
  return describe_model(json, "written");
}

TEST(ExportConfig, what_is_written_anew_is_described_as_the_same_model) {
  for (auto const& name : golden_names()) {
    auto const before = describe_model(golden_config(name), name);
    auto const after = again(config_json(before, ElementType::f32, kNew));
    EXPECT_EQ(after.architecture, before.architecture) << name;
    EXPECT_EQ(model_text(after.model), model_text(before.model)) << name;
  }
}

std::vector<ModelConfig> models_of_ours() {
  std::vector<ModelConfig> models;
  auto const add = [&](Family family, auto const& change) {
    Config config;
    config.model = {.family = family, .layers = 3, .hidden = 24, .heads = 3};
    if (family != Family::llama) config.model.activation = Activation::gelu_erf;
    change(config.model);
    models.push_back(completed(config, 61));
  };
  auto const as_it_is = [](ModelConfig&) {};
  for (auto const family : {Family::gpt, Family::bert, Family::t5, Family::llama})
    add(family, as_it_is);
  add(Family::t5, [](auto& m) { m.gated = true, m.tied = false; });
  add(Family::t5, [](auto& m) {
    m.gated = true, m.activation = Activation::gelu_tanh, m.scale_output = ScaleOutput::no;
  });
  add(Family::t5,
      [](auto& m) { m.gated = true, m.activation = Activation::silu, m.decoder_layers = 1; });
  add(Family::bert,
      [](auto& m) { m.tied = false, m.activation = Activation::silu, m.token_types = 1; });
  add(Family::llama, [](auto& m) { m.window = 4, m.kv_heads = 1; });
  add(Family::llama, [](auto& m) { m.window = 4, m.window_from = 1; });
  add(Family::llama, [](auto& m) { m.qkv_bias = true, m.window = 4, m.window_from = 2; });
  add(Family::llama, [](auto& m) {
    m.qk_norm = true, m.head_size = 6, m.rope_scaling = RopeScaling::llama3, m.rope_factor = 0.1;
    m.rope_theta = 1.0 / 3;
  });
  return models;
}

TEST(ExportConfig, models_that_were_never_theirs_are_described_as_they_are) {
  for (auto const& model : models_of_ours()) {
    auto const written = config_json({architecture_of(model), model}, ElementType::bf16, kNew);
    EXPECT_EQ(model_text(again(written).model), model_text(model)) << written;
  }
}

TEST(ExportConfig, what_is_written_for_models_of_ours_and_for_changed_ones_is_this) {
  DataConfig data;
  data.sequence = 96, data.pad_id = 3, data.eos_id = 9;
  std::string texts;
  for (auto const& model : models_of_ours())
    texts += config_json({architecture_of(model), model}, ElementType::bf16, kNew, data);
  for (auto const& name : golden_names()) {
    auto description = describe_model(golden_config(name), name);
    auto& model = description.model;
    model.vocab += 3, model.norm_eps = 0.25, model.tied = !model.tied;
    if (model.family == Family::llama) model.rope_theta = 7, model.rope_scaling = RopeScaling::none;
    if (model.window > 0) model.window += 1;
    texts += config_json(description, ElementType::f16, golden_config(name), data);
  }
  test::expect_frozen("config_exports.txt", texts, "{");
}

TEST(ExportConfig, an_original_stays_as_it_is_but_for_the_type_of_the_tensors) {
  for (auto const& name : golden_names()) {
    auto const original = golden_config(name);
    auto expected = Json::parse(original);
    expected["eos_token_id"] = 7;
    expected["unused"] = nullptr;
    auto const described = describe_model(original, name);
    auto const written = Json::parse(config_json(described, ElementType::f16, expected.dump()));
    expected["dtype"] = "float16";
    EXPECT_EQ(written, expected) << name;
  }
}

TEST(ExportConfig, the_type_is_spelled_as_in_the_original) {
  ModelDescription const gpt2 = {Architecture::gpt2,
                                 test::described(test::config_of(Architecture::gpt2))};
  auto const typed = [&](Json const& change) {
    auto original = test::config_of(Architecture::gpt2);
    original.update(change);
    return Json::parse(config_json(gpt2, ElementType::bf16, original.dump()));
  };
  auto const older = typed({{"torch_dtype", "float32"}}), newer = typed({{"dtype", "float32"}});
  EXPECT_EQ(older["torch_dtype"], "bfloat16");
  EXPECT_FALSE(older.contains("dtype"));
  EXPECT_EQ(newer["dtype"], "bfloat16");
  EXPECT_FALSE(newer.contains("torch_dtype"));
  EXPECT_EQ(typed({{"use_cache", true}})["torch_dtype"], "bfloat16");
}

TEST(ExportConfig, the_type_that_a_file_says_is_found_in_either_spelling) {
  for (auto const& [json, type] :
       {std::pair(R"({"dtype": "bfloat16"})", std::optional(ElementType::bf16)),
        std::pair(R"({"torch_dtype": "float16"})", std::optional(ElementType::f16)),
        std::pair(R"({"dtype": "float32", "torch_dtype": "float16"})",
                  std::optional(ElementType::f32)),
        std::pair(R"({"dtype": null, "torch_dtype": "float64"})", std::optional(ElementType::f64)),
        std::pair(R"({"dtype": "int8"})", std::optional<ElementType>()),
        std::pair(R"({"dtype": {"": "float32"}})", std::optional<ElementType>()),
        std::pair("{}", std::optional<ElementType>())})
    EXPECT_EQ(said_type(json, "config.json"), type) << json;
}

TEST(ExportConfig, tensors_of_several_types_have_one_that_holds_all) {
  using enum ElementType;
  auto const common = [](std::vector<ElementType> const& types) {
    std::vector<TensorEntry> entries;
    for (auto const type : types) entries.push_back({std::to_string(entries.size()), type, {1}});
    return common_type(TensorList(std::move(entries)));
  };
  EXPECT_EQ(common({}), f32);
  EXPECT_EQ(common({f16, f16}), f16);
  EXPECT_EQ(common({bf16, f32, bf16}), f32);
  EXPECT_EQ(common({bf16, f16}), f32);
  EXPECT_EQ(common({bf16, f64, f32}), f64);
  EXPECT_TRUE(holds(f32, bf16));
  EXPECT_FALSE(holds(bf16, f16));
  EXPECT_FALSE(holds(f32, f64));
}

TEST(ExportConfig, a_head_that_tensors_have_untied_is_said_for_both_versions) {
  auto description = describe_model(golden_config("t5-5"), "t5");
  ASSERT_TRUE(description.model.tied);
  description.model.tied = false;
  auto const written =
      Json::parse(config_json(description, ElementType::bf16, golden_config("t5-5")));
  EXPECT_EQ(written["tie_word_embeddings"], false);
  EXPECT_EQ(written["scale_decoder_outputs"], false);
  EXPECT_EQ(written["dense_act_fn"], "gelu_new");  // of the original
  EXPECT_FALSE(again(written.dump()).model.tied);

  auto gpt2 = describe_model(golden_config("gpt2-4"), "gpt2");
  gpt2.model.tied = true;
  EXPECT_TRUE(again(config_json(gpt2, ElementType::f32, golden_config("gpt2-4"))).model.tied);
}

// AutoModel makes a Ministral of it, whatever the class is called.
TEST(ExportConfig, a_mistral_with_a_word_a_layer_keeps_its_words_until_they_change) {
  auto file = Json::parse(golden_config("mistral-5"));
  file["layer_types"] = {"full_attention", "sliding_attention", "sliding_attention"};
  auto model = describe_model(file.dump(), "mistral");
  EXPECT_EQ(model.architecture, Architecture::ministral);
  EXPECT_EQ(Json::parse(config_json(model, ElementType::f32, file.dump()))["layer_types"],
            file["layer_types"]);
  model.model.window_from = 2;
  auto const written = Json::parse(config_json(model, ElementType::f32, file.dump()));
  EXPECT_EQ(written["layer_types"][1], "full_attention");
  EXPECT_EQ(again(written.dump()).model.window_from, 2);
}

// A key alone would say something else than those beside it.
TEST(ExportConfig, keys_that_belong_together_change_together) {
  auto llama = describe_model(golden_config("llama-5"), "llama");
  llama.model.rope_scaling = RopeScaling::none, llama.model.rope_theta = 7;
  auto const rope = Json::parse(config_json(llama, ElementType::f32, golden_config("llama-5")));
  EXPECT_FALSE(rope.contains("rope_parameters"));
  EXPECT_EQ(again(rope.dump()).model.rope_scaling, RopeScaling::none);
  EXPECT_EQ(again(rope.dump()).model.rope_theta, 7);

  auto qwen = describe_model(golden_config("qwen2-5"), "qwen2");
  qwen.model.window_from = 2;
  auto const window = Json::parse(config_json(qwen, ElementType::f32, golden_config("qwen2-5")));
  EXPECT_FALSE(window.contains("layer_types"));
  EXPECT_EQ(again(window.dump()).model.window_from, 2);
}

// docs/huggingface.md: rope_theta and rope_scaling are what both versions read.
TEST(ExportConfig, a_new_file_has_what_both_versions_read) {
  auto const llama = describe_model(golden_config("llama-5"), "llama");
  auto const written = Json::parse(config_json(llama, ElementType::bf16, kNew));
  EXPECT_EQ(written["architectures"], Json{"LlamaForCausalLM"});
  EXPECT_EQ(written["model_type"], "llama");
  EXPECT_EQ(written["torch_dtype"], "bfloat16");
  EXPECT_EQ(written["rope_theta"], 5e5);
  EXPECT_TRUE(written["rope_theta"].is_number_float());
  EXPECT_EQ(written["rope_scaling"]["rope_type"], "llama3");
  EXPECT_TRUE(written["rope_scaling"]["original_max_position_embeddings"].is_number_integer());
  EXPECT_TRUE(written["eos_token_id"].is_null());
}

TEST(ExportConfig, a_new_file_has_what_the_data_say_and_an_original_keeps_its_own) {
  DataConfig data;
  data.sequence = 96, data.pad_id = 3, data.eos_id = 9;
  for (auto const& name : golden_names()) {
    auto const model = describe_model(golden_config(name), name);
    auto const written = Json::parse(config_json(model, ElementType::f32, kNew, data));
    EXPECT_EQ(written["pad_token_id"], 3) << name;
    EXPECT_EQ(written["eos_token_id"], 9) << name;
    bool const is_t5 = model.architecture == Architecture::t5;
    EXPECT_EQ(written.value("decoder_start_token_id", -1), is_t5 ? 3 : -1) << name;
    if (model.model.family == Family::llama) {
      EXPECT_EQ(written["max_position_embeddings"], 96) << name;
    }
    auto const kept = config_json(model, ElementType::f32, golden_config(name), data);
    EXPECT_EQ(kept, config_json(model, ElementType::f32, golden_config(name))) << name;
  }
}

// Written as null, they would be what transformers likes.
TEST(ExportConfig, a_model_that_is_not_complete_is_not_written) {
  auto llama = describe_model(golden_config("llama-5"), "llama");
  llama.model.vocab = 0;
  EXPECT_THROW(config_json(llama, ElementType::f32, kNew), Error);
  llama = describe_model(golden_config("llama-5"), "llama");
  llama.model.kv_heads = 0;
  EXPECT_THROW(config_json(llama, ElementType::f32, kNew), std::logic_error);
}

TEST(ExportConfig, weights_that_are_no_floats_are_our_mistake) {
  auto const llama = describe_model(golden_config("llama-5"), "llama");
  EXPECT_THROW(config_json(llama, ElementType::i8, kNew), std::logic_error);
}

}  // namespace
}  // namespace spillway::huggingface_export_test
