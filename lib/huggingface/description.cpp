#include "huggingface/description.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "model/model.hpp"

namespace spillway {

std::string_view class_name(Architecture a) {
  constexpr std::string_view names[] = {
      "GPT2LMHeadModel",  "BertForMaskedLM",  "T5ForConditionalGeneration", "LlamaForCausalLM",
      "Qwen2ForCausalLM", "Qwen3ForCausalLM", "MistralForCausalLM"};
  return names[static_cast<int>(a)];
}

ModelDescription describe_model(std::string const& json, std::string const& place) {
  auto const j = nlohmann::json::parse(json);
  ModelDescription d;
  bool found = false;
  for (int i = 0; i < 7; ++i)
    if (class_name(static_cast<Architecture>(i)) == j.at("architectures")[0].get<std::string>()) {
      d.architecture = static_cast<Architecture>(i);
      found = true;
    }
  if (!found) throw Error(Status::bad_input, place + ": architectures");
  auto& m = d.model;
  auto num = [&](char const* k, std::int64_t def) {
    return j.contains(k) && !j[k].is_null() ? j[k].get<std::int64_t>() : def;
  };
  m.vocab = num("vocab_size", 50257);
  m.tied = j.value("tie_word_embeddings", d.architecture <= Architecture::t5);
  if (d.architecture == Architecture::gpt2) {
    m.family = "gpt";
    m.layers = num("n_layer", 12);
    m.hidden = num("n_embd", 768);
    m.heads = num("n_head", 12);
    m.positions = num("n_positions", 1024);
    m.ffn = num("n_inner", 4 * m.hidden);
  } else if (d.architecture == Architecture::bert) {
    m.family = "bert";
    m.layers = num("num_hidden_layers", 12);
    m.hidden = num("hidden_size", 768);
    m.heads = num("num_attention_heads", 12);
    m.positions = num("max_position_embeddings", 512);
    m.ffn = num("intermediate_size", 3072);
    m.token_types = num("type_vocab_size", 2);
  } else if (d.architecture == Architecture::t5) {
    m.family = "t5";
    m.layers = num("num_layers", 6);
    m.decoder_layers = num("num_decoder_layers", m.layers);
    m.hidden = num("d_model", 512);
    m.heads = num("num_heads", 8);
    m.head_size = num("d_kv", 64);
    m.ffn = num("d_ff", 2048);
    m.relative_buckets = num("relative_attention_num_buckets", 32);
    m.relative_max_distance = num("relative_attention_max_distance", 128);
    m.gated = j.value("feed_forward_proj", "relu") == "gated-gelu";
    m.scale_output = j.value("scale_decoder_outputs", m.tied) ? "true" : "false";
  } else {
    m.family = "llama";
    m.layers = num("num_hidden_layers", 32);
    m.hidden = num("hidden_size", 4096);
    m.heads = num("num_attention_heads", 32);
    m.kv_heads = num("num_key_value_heads", m.heads);
    m.ffn = num("intermediate_size", 11008);
    m.head_size = num("head_dim", d.architecture == Architecture::qwen3 ? 128 : m.hidden / m.heads);
    m.qkv_bias = d.architecture == Architecture::qwen2;
    m.qk_norm = d.architecture == Architecture::qwen3;
    if (d.architecture == Architecture::mistral) m.window = num("sliding_window", 0);
  }
  Config c;
  c.model = m;
  d.model = completed(c, m.vocab);
  return d;
}

Architecture architecture_of(ModelConfig const& m) {
  if (m.family == "gpt") return Architecture::gpt2;
  if (m.family == "bert") return Architecture::bert;
  if (m.family == "t5") return Architecture::t5;
  return m.qk_norm    ? Architecture::qwen3
         : m.qkv_bias ? Architecture::qwen2
         : m.window   ? Architecture::mistral
                      : Architecture::llama;
}

std::string config_json(ModelDescription const&, ElementType, std::string const& original) {
  return original;
}

}  // namespace spillway
