// What holds where a key is absent or null, and what is left out.
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_defaults_test {
namespace {

using test::config_of;
using test::described;
using test::Json;
using test::model_text;

// The tables of docs/huggingface.md, with nothing but architectures in a file.
std::vector<std::pair<Architecture, ModelConfig>> defaults() {
  ModelConfig const llama = {.family = Family::llama,
                             .layers = 32,
                             .hidden = 4096,
                             .heads = 32,
                             .kv_heads = 32,
                             .head_size = 128,
                             .ffn = 11008,
                             .vocab = 32000,
                             .tied = false,
                             .rope_theta = 10000,
                             .norm_eps = 1e-6};
  auto qwen2 = llama, mistral = llama;
  qwen2.vocab = 151936, qwen2.ffn = 22016, qwen2.qkv_bias = true;
  auto qwen3 = qwen2;
  qwen3.qkv_bias = false, qwen3.qk_norm = true;
  mistral.ffn = 14336, mistral.kv_heads = 8, mistral.window = 4096;
  return {
      {Architecture::gpt2,
       {.family = Family::gpt,
        .layers = 12,
        .hidden = 768,
        .heads = 12,
        .ffn = 3072,
        .vocab = 50257,
        .positions = 1024,
        .activation = Activation::gelu_tanh,
        .tied = true,
        .norm_eps = 1e-5}},
      {Architecture::bert,
       {.family = Family::bert,
        .layers = 12,
        .hidden = 768,
        .heads = 12,
        .ffn = 3072,
        .vocab = 30522,
        .positions = 512,
        .token_types = 2,
        .activation = Activation::gelu_erf,
        .tied = true,
        .norm_eps = 1e-12}},
      {Architecture::t5,
       {.family = Family::t5,
        .layers = 6,
        .hidden = 512,
        .heads = 8,
        .head_size = 64,
        .decoder_layers = 6,
        .ffn = 2048,
        .vocab = 32128,
        .activation = Activation::relu,
        .tied = true,
        .relative_buckets = 32,
        .relative_max_distance = 128,
        .scale_output = ScaleOutput::yes,
        .norm_eps = 1e-6}},
      {Architecture::llama, llama},
      {Architecture::qwen2, qwen2},
      {Architecture::qwen3, qwen3},
      {Architecture::mistral, mistral},
      {Architecture::ministral, mistral},
  };
}

TEST(DescribedDefaults, an_absent_key_has_the_default_of_transformers) {
  for (auto const& [architecture, model] : defaults())
    EXPECT_EQ(model_text(described(config_of(architecture))), model_text(model))
        << class_name(architecture);
}

TEST(DescribedDefaults, null_says_something_else_than_absence) {
  auto const with_null = [](Architecture architecture, char const* key) {
    auto file = config_of(architecture);
    file[key] = nullptr;
    return described(file);
  };
  for (auto const architecture :
       {Architecture::llama, Architecture::qwen2, Architecture::qwen3, Architecture::mistral}) {
    EXPECT_EQ(with_null(architecture, "num_key_value_heads").kv_heads, 32);
    EXPECT_EQ(with_null(architecture, "head_dim").head_size, 128);
  }
  auto narrow = config_of(Architecture::qwen3);
  narrow["num_attention_heads"] = 64;
  EXPECT_EQ(described(narrow).head_size, 128);
  narrow["head_dim"] = nullptr;
  EXPECT_EQ(described(narrow).head_size, 64);
  EXPECT_EQ(with_null(Architecture::mistral, "sliding_window").window, 0);
  EXPECT_EQ(with_null(Architecture::gpt2, "n_inner").ffn, 4 * 768);
  EXPECT_EQ(with_null(Architecture::t5, "num_decoder_layers").decoder_layers, 6);
  EXPECT_EQ(with_null(Architecture::t5, "scale_decoder_outputs").scale_output, ScaleOutput::no);
  auto qwen = config_of(Architecture::qwen2);
  qwen["use_sliding_window"] = true;
  EXPECT_EQ(described(qwen).window, 4096);
  EXPECT_EQ(described(qwen).window_from, 28);
  qwen["sliding_window"] = nullptr;
  EXPECT_EQ(described(qwen).window, 0);
}

TEST(DescribedDefaults, scores_of_t5_are_scaled_as_the_head_is_tied_unless_said_otherwise) {
  auto file = config_of(Architecture::t5);
  file["tie_word_embeddings"] = false;
  EXPECT_EQ(described(file).scale_output, ScaleOutput::no);
  file["scale_decoder_outputs"] = true;
  EXPECT_EQ(described(file).scale_output, ScaleOutput::yes);
  EXPECT_FALSE(described(file).tied);
}

TEST(DescribedDefaults, positions_of_llama3_are_those_of_the_model_where_none_are_given) {
  Json const scaling = {
      {"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}};
  for (auto const& [architecture, positions] :
       {std::pair(Architecture::llama, 2048), std::pair(Architecture::qwen2, 32768),
        std::pair(Architecture::qwen3, 32768), std::pair(Architecture::mistral, 131072)}) {
    auto file = config_of(architecture);
    file["rope_scaling"] = scaling;
    EXPECT_EQ(described(file).rope_original_positions, positions) << class_name(architecture);
    file["max_position_embeddings"] = 777;
    EXPECT_EQ(described(file).rope_original_positions, 777);
    file["rope_scaling"]["original_max_position_embeddings"] = 99;
    EXPECT_EQ(described(file).rope_original_positions, 99);
  }
}

TEST(DescribedDefaults, a_kind_of_scaling_may_be_called_type) {
  auto file = config_of(Architecture::llama);
  file["rope_scaling"] = {{"type", "linear"}, {"factor", 2}};
  EXPECT_EQ(described(file).rope_scaling, RopeScaling::linear);
  file["rope_scaling"]["rope_type"] = "linear";
  EXPECT_EQ(described(file).rope_factor, 2);
  file.erase("rope_scaling");
  file["rope_parameters"] = {{"rope_theta", 3e5}};
  EXPECT_EQ(described(file).rope_scaling, RopeScaling::none);
  EXPECT_EQ(described(file).rope_theta, 3e5);
}

TEST(DescribedDefaults, activations_have_the_names_of_the_table) {
  for (auto const& [theirs, ours] :
       {std::pair("gelu_new", Activation::gelu_tanh),
        std::pair("gelu_pytorch_tanh", Activation::gelu_tanh),
        std::pair("gelu_python_tanh", Activation::gelu_tanh),
        std::pair("gelu", Activation::gelu_erf), std::pair("gelu_python", Activation::gelu_erf),
        std::pair("silu", Activation::silu), std::pair("swish", Activation::silu),
        std::pair("relu", Activation::relu)}) {
    auto gpt2 = config_of(Architecture::gpt2), bert = config_of(Architecture::bert),
         t5 = config_of(Architecture::t5);
    gpt2["activation_function"] = bert["hidden_act"] = t5["feed_forward_proj"] = theirs;
    for (auto const& file : {gpt2, bert, t5}) EXPECT_EQ(described(file).activation, ours) << file;
    EXPECT_FALSE(described(t5).gated);
  }
  auto llama = config_of(Architecture::llama);
  llama["hidden_act"] = "swish";
  EXPECT_EQ(test::refusal(llama.dump()), "");
}

// Only here `gelu` is the approximation.
TEST(DescribedDefaults, gated_layers_of_t5_name_their_activation_behind_the_word) {
  auto file = config_of(Architecture::t5);
  for (auto const& [theirs, ours] :
       {std::pair("gated-gelu", Activation::gelu_tanh), std::pair("gated-silu", Activation::silu),
        std::pair("gated-gelu_python", Activation::gelu_erf),
        std::pair("gated-relu", Activation::relu)}) {
    file["feed_forward_proj"] = theirs;
    EXPECT_TRUE(described(file).gated);
    EXPECT_EQ(described(file).activation, ours) << theirs;
  }
}

TEST(DescribedDefaults, keys_on_which_nothing_depends_change_nothing) {
  std::vector<std::string> const names = {"use_cache",
                                          "initializer_range",
                                          "initializer_factor",
                                          "transformers_version",
                                          "_name_or_path",
                                          "_attn_implementation",
                                          "_attn_implementation_autoset",
                                          "gradient_checkpointing",
                                          "torchscript",
                                          "return_dict",
                                          "output_past",
                                          "output_attentions",
                                          "output_hidden_states",
                                          "id2label",
                                          "label2id",
                                          "num_labels",
                                          "_num_labels",
                                          "unsloth_fixed",
                                          "unsloth_version",
                                          "problem_type",
                                          "finetuning_task",
                                          "tokenizer_class",
                                          "chunk_size_feed_forward",
                                          "transformers.js_config",
                                          "attn_implementation",
                                          "name_or_path",
                                          "_commit_hash",
                                          "use_bfloat16",
                                          "tf_legacy_loss",
                                          "xla_device",
                                          "prefix",
                                          "sep_token_id",
                                          "max_length",
                                          "num_beams",
                                          "top_k",
                                          "repetition_penalty",
                                          "bad_words_ids",
                                          "pretraining_tp",
                                          "classifier_dropout",
                                          "summary_type",
                                          "summary_use_proj",
                                          "task_specific_params",
                                          "n_ctx",
                                          "bos_token_id",
                                          "eos_token_id",
                                          "pad_token_id",
                                          "resid_pdrop",
                                          "attention_dropout",
                                          "hidden_dropout_prob",
                                          "dropout_rate",
                                          "dtype",
                                          "torch_dtype"};
  for (auto const& [architecture, model] : defaults()) {
    for (auto const& name : names) {
      for (auto const& value : {Json("whatever"), Json(7), Json{{"a", {1, 2}}}}) {
        auto file = config_of(architecture);
        file[name] = value;
        EXPECT_EQ(model_text(described(file)), model_text(model)) << name;
      }
    }
  }
}

TEST(DescribedDefaults, some_architectures_leave_out_what_others_do_not) {
  auto const leaves_out = [](Architecture architecture, std::string const& name) {
    auto file = config_of(architecture);
    auto const before = model_text(described(file));
    file[name] = 77;
    auto const line = test::refusal(file.dump());
    if (!line.empty()) return false;
    EXPECT_EQ(model_text(described(file)), before) << name;
    return true;
  };
  EXPECT_TRUE(leaves_out(Architecture::gpt2, "reorder_and_upcast_attn"));
  EXPECT_FALSE(leaves_out(Architecture::bert, "reorder_and_upcast_attn"));
  EXPECT_TRUE(leaves_out(Architecture::t5, "n_positions"));
  EXPECT_FALSE(leaves_out(Architecture::llama, "n_positions"));
  EXPECT_FALSE(leaves_out(Architecture::mistral, "layer_types"));
  EXPECT_FALSE(leaves_out(Architecture::llama, "layer_types"));
  for (auto const architecture :
       {Architecture::llama, Architecture::qwen2, Architecture::qwen3, Architecture::mistral})
    for (auto const* name : {"max_position_embeddings", "max_sequence_length", "is_llama_config"})
      EXPECT_TRUE(leaves_out(architecture, name)) << name;
  EXPECT_FALSE(leaves_out(Architecture::gpt2, "max_position_embeddings"));
  for (auto const* name : {"n_special", "predict_special_tokens"}) {
    EXPECT_TRUE(leaves_out(Architecture::gpt2, name)) << name;
    EXPECT_FALSE(leaves_out(Architecture::qwen3, name)) << name;
  }
}

TEST(DescribedDefaults, an_unknown_key_may_be_null_or_false_or_empty) {
  for (auto const& value : {Json(nullptr), Json(false), Json::object(), Json::array()}) {
    auto file = config_of(Architecture::qwen2);
    file["quantization_config"] = file["attention_bias"] = file["pruned_heads"] = value;
    EXPECT_EQ(test::refusal(file.dump()), "");
  }
}

TEST(DescribedDefaults, a_second_name_of_a_key_may_say_the_same) {
  auto gpt2 = config_of(Architecture::gpt2), t5 = config_of(Architecture::t5);
  gpt2["hidden_size"] = 768, gpt2["n_layer"] = gpt2["num_hidden_layers"] = 3;
  t5["d_kv"] = t5["head_dim"] = 48, t5["num_attention_heads"] = 8;
  EXPECT_EQ(described(gpt2).layers, 3);
  EXPECT_EQ(described(t5).head_size, 48);
}

TEST(DescribedDefaults, a_decoder_may_start_with_the_padding_that_the_file_says) {
  for (auto const& [start, pad] : {std::pair(Json(0), Json(0)), std::pair(Json(7), Json(7)),
                                   std::pair(Json(nullptr), Json(7))}) {
    auto file = config_of(Architecture::t5);
    file["decoder_start_token_id"] = start, file["pad_token_id"] = pad;
    EXPECT_EQ(test::refusal(file.dump()), "");
  }
  auto llama = config_of(Architecture::llama);  // has no decoder
  llama["decoder_start_token_id"] = 5;
  EXPECT_EQ(test::refusal(llama.dump()), "");
}

// A word a layer wins over the layer from which windows begin.
TEST(DescribedDefaults, words_of_layers_say_where_windows_begin) {
  auto const window_of = [](Architecture architecture, Json const& change) {
    auto file = config_of(architecture);
    file.update({{"num_hidden_layers", 3}, {"sliding_window", 8}});
    file.update(change);
    auto const model = described(file);
    return std::pair(model.window, model.window_from);
  };
  Json const full = "full_attention", sliding = "sliding_attention";
  using Window = std::pair<std::int64_t, std::int64_t>;
  for (auto const architecture : {Architecture::mistral, Architecture::ministral}) {
    auto const types = [&](Json const& words) {
      return window_of(architecture, {{"layer_types", words}});
    };
    EXPECT_EQ(types({full, full, sliding}), Window(8, 2));
    EXPECT_EQ(types({sliding, sliding, sliding}), Window(8, 0));
    EXPECT_EQ(types({full, full, full}), Window(0, 0));
    EXPECT_EQ(types(nullptr), Window(8, 0));
  }
  Json const qwen = {{"use_sliding_window", true}, {"max_window_layers", 2}};
  EXPECT_EQ(window_of(Architecture::qwen3, qwen), Window(8, 2));
  auto words = qwen;
  words["layer_types"] = {full, sliding, sliding};
  EXPECT_EQ(window_of(Architecture::qwen3, words), Window(8, 1));
}

TEST(DescribedDefaults, the_type_of_a_model_decides_between_classes_as_in_automodel) {
  auto file = config_of(Architecture::mistral);
  EXPECT_EQ(describe_model(file.dump(), "").architecture, Architecture::mistral);
  file["model_type"] = "ministral";
  EXPECT_EQ(describe_model(file.dump(), "").architecture, Architecture::ministral);
  file["model_type"] = "mistral";
  EXPECT_EQ(describe_model(file.dump(), "").architecture, Architecture::mistral);
  file["layer_types"] = nullptr;
  EXPECT_EQ(describe_model(file.dump(), "").architecture, Architecture::ministral);
}

}  // namespace
}  // namespace spillway::huggingface_defaults_test
