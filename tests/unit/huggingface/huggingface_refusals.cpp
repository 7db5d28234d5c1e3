// Every refusal that docs/huggingface.md names, and files that somebody made to do harm.
#include "tests/support/frozen.hpp"
#include "tests/unit/huggingface/huggingface_case.hpp"

namespace spillway::huggingface_refusals_test {
namespace {

using test::config_of;
using test::Json;
using test::refusal;

struct RefusedCase {
  Architecture architecture;
  std::string key;   // that the line names, behind the file
  Json change;       // of a file that has nothing else
  std::string word;  // that the line has, too
};

std::vector<RefusedCase> other_computations() {
  using enum Architecture;
  return {
      {gpt2, "scale_attn_weights", {{"scale_attn_weights", false}}, "only true"},
      {gpt2, "scale_attn_weights", {{"scale_attn_weights", nullptr}}, "only true"},
      {gpt2, "scale_attn_by_inverse_layer_idx", {{"scale_attn_by_inverse_layer_idx", true}}, ""},
      {gpt2, "is_causal", {{"is_causal", false}}, "only true"},
      {gpt2, "add_cross_attention", {{"add_cross_attention", true}}, "only false"},
      {bert, "is_decoder", {{"is_decoder", true}}, "only false"},
      {bert, "add_cross_attention", {{"add_cross_attention", true}}, "only false"},
      {bert, "position_embedding_type", {{"position_embedding_type", "relative_key"}}, "absolute"},
      {t5, "is_encoder_decoder", {{"is_encoder_decoder", false}}, "only true"},
      {t5, "is_decoder", {{"is_decoder", true}}, "only false"},
      {t5, "is_causal", {{"is_causal", false}}, "only null"},
      {t5, "is_causal", {{"is_causal", true}}, "only null"},
      {bert, "is_causal", {{"is_causal", true}}, "BertForMaskedLM"},
      {llama, "hidden_act", {{"hidden_act", "gelu"}}, "silu"},
      {mistral, "hidden_act", {{"hidden_act", "relu"}}, "silu"},
      {llama, "is_causal", {{"is_causal", false}}, "only true"},
      {qwen2, "is_causal", {{"is_causal", nullptr}}, "only true"},
      {qwen3, "is_causal", {{"is_causal", false}}, "only true"},
      {mistral, "is_causal", {{"is_causal", false}}, "only true"},
      {llama, "attention_bias", {{"attention_bias", true}}, "only false"},
      {qwen3, "attention_bias", {{"attention_bias", true}}, "only false"},
      {llama, "mlp_bias", {{"mlp_bias", true}}, "only false"},
      {gpt2, "activation_function", {{"activation_function", "gelu_fast"}}, "gelu_fast"},
      {bert, "hidden_act", {{"hidden_act", "quick_gelu"}}, "quick_gelu"},
      {bert, "hidden_act", {{"hidden_act", 3}}, "3 is not offered"},
  };
}

std::vector<RefusedCase> keys_of_others() {
  using enum Architecture;
  return {
      {qwen2, "attention_bias", {{"attention_bias", true}}, "Qwen2ForCausalLM"},
      {mistral, "attention_bias", {{"attention_bias", true}}, "MistralForCausalLM"},
      {qwen2, "mlp_bias", {{"mlp_bias", true}}, "Qwen2ForCausalLM"},
      {qwen3, "mlp_bias", {{"mlp_bias", true}}, "Qwen3ForCausalLM"},
      {mistral, "mlp_bias", {{"mlp_bias", true}}, "MistralForCausalLM"},
      {llama, "sliding_window", {{"sliding_window", 8}}, "LlamaForCausalLM"},
      {llama, "use_sliding_window", {{"use_sliding_window", true}}, "LlamaForCausalLM"},
      {mistral, "use_sliding_window", {{"use_sliding_window", true}}, "MistralForCausalLM"},
      {llama, "max_window_layers", {{"max_window_layers", 3}}, "LlamaForCausalLM"},
      {mistral, "max_window_layers", {{"max_window_layers", 3}}, "MistralForCausalLM"},
      {gpt2, "quantization_config", {{"quantization_config", {{"bits", 4}}}}, "GPT2LMHeadModel"},
      {gpt2, "hidden_size", {{"hidden_size", 8}}, "GPT2LMHeadModel"},
      {gpt2, "pruned_heads", {{"pruned_heads", {{"0", {1}}}}}, "a map"},
      {gpt2, "num_hidden_layers", {{"num_hidden_layers", 3}}, "GPT2LMHeadModel"},
      {t5, "head_dim", {{"d_kv", 64}, {"head_dim", 63}}, "T5ForConditionalGeneration"},
      {llama, "model_type", {{"model_type", "qwen3"}}, "which is llama"},
      {mistral, "model_type", {{"model_type", "llama"}}, "which is mistral"},
      {ministral, "model_type", {{"model_type", "mistral"}}, "which is ministral"},
      {t5, "model_type", {{"model_type", "mt5"}}, "which is t5"},
      {t5, "decoder_start_token_id", {{"decoder_start_token_id", 5}}, "pad_token_id, which is 0"},
      {t5,
       "decoder_start_token_id",
       {{"decoder_start_token_id", 0}, {"pad_token_id", 3}},
       "which is 3"},
      {llama, "unheard_of", {{"unheard_of", 0}}, "LlamaForCausalLM"},
  };
}

std::vector<RefusedCase> windows() {
  using enum Architecture;
  return {
      {qwen2,
       "layer_types",
       {{"num_hidden_layers", 2}, {"layer_types", {"sliding_attention", "full_attention"}}},
       "use_sliding_window"},
      {qwen3,
       "layer_types",
       {{"num_hidden_layers", 2},
        {"use_sliding_window", true},
        {"max_window_layers", 1},
        {"layer_types", {"sliding_attention", "full_attention"}}},
       "only from one layer on"},
      {qwen2,
       "layer_types",
       {{"num_hidden_layers", 1},
        {"use_sliding_window", true},
        {"sliding_window", nullptr},
        {"layer_types", {"sliding_attention"}}},
       "sliding_window"},
      {mistral,
       "layer_types",
       {{"num_hidden_layers", 3},
        {"layer_types", {"full_attention", "sliding_attention", "full_attention"}}},
       "only from one layer on"},
      {mistral,
       "layer_types",
       {{"num_hidden_layers", 1}, {"layer_types", {"chunked_attention"}}},
       "full_attention or sliding_attention"},
      {mistral,
       "layer_types",
       {{"num_hidden_layers", 1},
        {"sliding_window", nullptr},
        {"layer_types", {"sliding_attention"}}},
       "sliding_window"},
      {ministral, "layer_types", {{"layer_types", {"full_attention"}}}, "each of the model's"},
      {qwen3,
       "layer_types",
       {{"num_hidden_layers", 2}, {"layer_types", {"full_attention"}}},
       "layers"},
      {qwen2, "layer_types", {{"layer_types", 3}}, "layers"},
      {qwen2, "use_sliding_window", {{"use_sliding_window", 1}}, "true or false"},
      {mistral, "sliding_window", {{"sliding_window", 0}}, "must be more"},
      {qwen2, "sliding_window", {{"use_sliding_window", true}, {"sliding_window", -1}}, "bounds"},
  };
}

std::vector<RefusedCase> rotary_positions() {
  using enum Architecture;
  return {
      {llama, "rope_scaling.rope_type", {{"rope_scaling", {{"rope_type", "dynamic"}}}}, "dynamic"},
      {llama, "rope_scaling.rope_type", {{"rope_scaling", {{"type", "yarn"}}}}, "yarn"},
      {qwen2, "rope_parameters.rope_type", {{"rope_parameters", {{"rope_type", "longrope"}}}}, ""},
      {qwen3,
       "rope_parameters.rope_type",
       {{"rope_parameters", {{"rope_type", "proportional"}}}},
       "proportional"},
      {mistral, "rope_scaling.rope_type", {{"rope_scaling", {{"rope_type", nullptr}}}}, "null"},
      {llama,
       "rope_scaling.type",
       {{"rope_scaling", {{"rope_type", "default"}, {"type", "yarn"}}}},
       "rope_type"},
      {llama, "rope_scaling.factor", {{"rope_scaling", {{"rope_type", "linear"}}}}, "is missing"},
      {llama,
       "rope_scaling.low_freq_factor",
       {{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 2}}}},
       "is missing"},
      {llama,
       "rope_scaling.factor",
       {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 0}}}},
       "bounds"},
      {llama,
       "rope_scaling.factor",
       {{"rope_scaling", {{"rope_type", "linear"}, {"factor", nullptr}}}},
       "no value"},
      {llama,
       "rope_scaling.beta_fast",
       {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}, {"beta_fast", 1}}}},
       "linear"},
      {llama,
       "rope_parameters.full_attention",
       {{"rope_parameters", {{"full_attention", {{"rope_type", "default"}}}}}},
       "default"},
      {llama,
       "rope_scaling.high_freq_factor",
       {{"rope_scaling",
         {{"rope_type", "llama3"},
          {"factor", 2},
          {"low_freq_factor", 4},
          {"high_freq_factor", 4}}}},
       "does not exceed"},
      {llama, "rope_scaling", {{"rope_scaling", "linear"}}, "a map"},
      {llama,
       "rope_parameters",
       {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}},
        {"rope_parameters", {{"rope_type", "default"}}}},
       "rope_scaling"},
      {llama,
       "rope_theta",
       {{"rope_theta", 5}, {"rope_parameters", {{"rope_theta", 6}}}},
       "rope_parameters.rope_theta"},
      {llama, "rope_theta", {{"rope_theta", 0}}, "bounds"},
      {llama, "rope_theta", {{"rope_theta", nullptr}}, "no value"},
      {llama, "partial_rotary_factor", {{"partial_rotary_factor", 0.5}}, "only 1"},
      {qwen2,
       "rope_parameters.partial_rotary_factor",
       {{"rope_parameters", {{"partial_rotary_factor", 0.25}}}},
       "only 1"},
  };
}

std::vector<RefusedCase> feed_forward_of_t5() {
  using enum Architecture;
  return {
      {t5, "feed_forward_proj", {{"feed_forward_proj", "gated"}}, "gated"},
      {t5, "feed_forward_proj", {{"feed_forward_proj", "gated-gelu_fast"}}, "gelu_fast"},
      {t5, "feed_forward_proj", {{"feed_forward_proj", 1}}, "a text"},
      {t5, "dense_act_fn", {{"dense_act_fn", "gelu_new"}}, "feed_forward_proj"},
      {t5,
       "dense_act_fn",
       {{"feed_forward_proj", "gated-gelu"}, {"dense_act_fn", "gelu"}},
       "feed_forward_proj"},
      {t5, "is_gated_act", {{"is_gated_act", true}}, "feed_forward_proj"},
      {t5,
       "is_gated_act",
       {{"feed_forward_proj", "gated-silu"}, {"is_gated_act", nullptr}},
       "feed_forward_proj"},
      {t5,
       "is_gated_act",
       {{"feed_forward_proj", "gated-silu"}, {"is_gated_act", false}},
       "feed_forward_proj"},
  };
}

std::vector<RefusedCase> types_and_bounds() {
  using enum Architecture;
  return {
      {gpt2, "n_embd", {{"n_embd", "64"}}, "an integer"},
      {gpt2, "n_embd", {{"n_embd", 64.0}}, "an integer"},
      {gpt2, "n_embd", {{"n_embd", true}}, "an integer"},
      {gpt2, "n_embd", {{"n_embd", nullptr}}, "an integer"},
      {gpt2, "n_embd", {{"n_embd", {64}}}, "a list"},
      {gpt2, "n_embd", {{"n_embd", {{"a", 64}}}}, "a map"},
      {gpt2, "n_embd", {{"n_embd", 0}}, "bounds"},
      {gpt2, "n_embd", {{"n_embd", -64}}, "bounds"},
      {gpt2, "n_embd", {{"n_embd", 18446744073709551615u}}, "64 bits"},
      {gpt2, "n_layer", {{"n_layer", 5001}}, "bounds"},
      {gpt2, "vocab_size", {{"vocab_size", 0}}, "must be more"},
      {gpt2, "n_positions", {{"n_positions", 0}}, "must be more"},
      {gpt2, "n_inner", {{"n_inner", 0}}, "must be more"},
      {gpt2, "layer_norm_epsilon", {{"layer_norm_epsilon", 0}}, "must be more"},
      {gpt2, "layer_norm_epsilon", {{"layer_norm_epsilon", -0.0}}, "must be more"},
      {gpt2, "layer_norm_epsilon", {{"layer_norm_epsilon", 2}}, "bounds"},
      {gpt2, "tie_word_embeddings", {{"tie_word_embeddings", 1}}, "true or false"},
      {gpt2, "tie_word_embeddings", {{"tie_word_embeddings", nullptr}}, "true or false"},
      {gpt2, "n_head", {{"n_head", 7}}, "does not divide hidden = 768"},
      {gpt2, "n_embd", {{"n_embd", 1000000}, {"n_head", 1}, {"n_layer", 5000}}, "a state of more"},
      {bert, "num_attention_heads", {{"num_attention_heads", 7}}, "does not divide"},
      {bert, "type_vocab_size", {{"type_vocab_size", 0}}, "bounds"},
      {llama, "num_key_value_heads", {{"num_key_value_heads", 0}}, "must be more"},
      {llama, "num_key_value_heads", {{"num_key_value_heads", 5}}, "does not divide heads = 32"},
      {llama, "head_dim", {{"head_dim", 0}}, "must be more"},
      {llama, "head_dim", {{"head_dim", 33}}, "in pairs"},
      {qwen2, "num_attention_heads", {{"num_attention_heads", 96}}, "does not divide"},
      {t5, "num_decoder_layers", {{"num_decoder_layers", 0}}, "must be more"},
      {t5, "d_kv", {{"d_kv", nullptr}}, "an integer"},
  };
}

TEST(RefusedConfigs, what_is_unsupported_is_named) {
  std::string lines;
  for (auto const& cases : {other_computations(), keys_of_others(), windows(), rotary_positions(),
                            feed_forward_of_t5(), types_and_bounds()}) {
    for (auto const& [architecture, key, change, word] : cases) {
      auto file = config_of(architecture);
      file.update(change);
      auto const line = refusal(file.dump());
      EXPECT_TRUE(line.starts_with("dir/config.json: " + key + ": ")) << key << "\n" << line;
      EXPECT_NE(line.find(word), line.npos) << word << "\n" << line;
      lines += line + "\n";
    }
  }
  test::expect_frozen("config_refusals.txt", lines);
}

TEST(RefusedConfigs, an_architecture_that_is_not_ours_is_named) {
  EXPECT_EQ(refusal(R"({"architectures": ["MambaForCausalLM"]})"),
            "dir/config.json: architectures: MambaForCausalLM is not offered; these are: "
            "GPT2LMHeadModel, BertForMaskedLM, T5ForConditionalGeneration, LlamaForCausalLM, "
            "Qwen2ForCausalLM, Qwen3ForCausalLM, MistralForCausalLM, MinistralForCausalLM");
  EXPECT_TRUE(refusal(R"({"architectures": ["GPT2LMHeadModel"], "": 1})")
                  .starts_with("dir/config.json: 1 is not known"));
  for (auto const* const json : {"{}", R"({"architectures": null})", R"({"architectures": []})",
                                 R"({"architectures": [1]})", R"({"architectures": "x"})"})
    EXPECT_TRUE(refusal(json).starts_with("dir/config.json: architectures: expected")) << json;
}

TEST(RefusedConfigs, what_is_no_json_is_refused_where_it_is_not) {
  for (auto const& [json, line] : {
           std::pair("", "is not JSON at byte 1 of it"),
           std::pair(R"({"n_embd": NaN})", "is not JSON at byte 12 of it"),
           std::pair(R"({"n_embd": 1} 2)", "is not JSON at byte 15 of it"),
           std::pair("{\"a\": \"\xff\"}", "is not JSON at byte 8 of it"),
           std::pair("[1]", "is not a JSON object"),
           std::pair("7", "is not a JSON object"),
           std::pair(R"({"n_embd": 1, "n_embd": 1})", "n_embd: is given twice"),
           std::pair(R"({"a": {"b": 1}, "c": {"d": [{"b": 1, "b": 2}]}})", "c.d.b: is given twice"),
           std::pair(R"({"a": 1, "rope_theta": 1e999})",
                     "rope_theta: the number is larger than any that a double holds"),
       })
    EXPECT_EQ(refusal(json), std::string("dir/config.json: ") + line) << json;
}

TEST(RefusedConfigs, bombs_are_refused) {
  EXPECT_NE(refusal(std::string(100'000, '[')).find("nests too many"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += R"({"k":)";
  EXPECT_NE(refusal(deep).find("nests too many"), std::string::npos);
  EXPECT_NE(refusal(std::string(kMostConfigBytes + 1, ' ')).find("larger than"), std::string::npos);
}

TEST(RefusedConfigs, a_file_of_a_mebibyte_is_read) {
  auto text = config_of(Architecture::gpt2).dump();
  text.append(static_cast<std::size_t>(kMostConfigBytes) - text.size(), ' ');
  EXPECT_EQ(refusal(text), "");
  EXPECT_EQ(refusal(text + ' '), "dir/config.json: is larger than 1048576 bytes");
}

TEST(RefusedConfigs, bytes_of_a_file_are_shown_on_one_short_line) {
  auto file = config_of(Architecture::gpt2);
  file[std::string(5000, 'x') + "\n"] = std::string(5000, 'y') + "\n\x1b";
  auto const line = refusal(file.dump());
  EXPECT_LT(line.size(), 300u);
  file = config_of(Architecture::gpt2);
  file["a\n\x1b\x7f"] = "\n\x1b\x7f";
  for (char const c : refusal(file.dump())) EXPECT_TRUE(c >= ' ' && c <= '~');
}

}  // namespace
}  // namespace spillway::huggingface_refusals_test
