#include "huggingface/architecture.hpp"

#include <algorithm>

#include "config/place.hpp"

namespace spillway {
namespace {

struct ArchitectureRow {
  std::string_view class_name, model_type;
  Family family;
  bool qkv_bias = false, qk_norm = false;  // whether its models have these
};

ArchitectureRow const& row_of(Architecture architecture) {
  static constexpr ArchitectureRow rows[] = {
      {"GPT2LMHeadModel", "gpt2", Family::gpt},
      {"BertForMaskedLM", "bert", Family::bert},
      {"T5ForConditionalGeneration", "t5", Family::t5},
      {"LlamaForCausalLM", "llama", Family::llama},
      {"Qwen2ForCausalLM", "qwen2", Family::llama, true},
      {"Qwen3ForCausalLM", "qwen3", Family::llama, false, true},
      {"MistralForCausalLM", "mistral", Family::llama},
      {"MinistralForCausalLM", "ministral", Family::llama},
  };
  return rows[static_cast<std::size_t>(architecture)];
}

void require(bool holds, char const* key, char const* problem) {
  if (!holds) refuse({"", key}, problem);
}

Architecture of_llamas(ModelConfig const& model) {
  require(!model.qkv_bias || !model.qk_norm, "model.qk_norm",
          "true with qkv_bias: true: no architecture has both; Qwen3ForCausalLM has norms alone");
  if (model.qkv_bias) return Architecture::qwen2;
  if (model.qk_norm) return Architecture::qwen3;
  bool const has_window = model.window > 0 && model.window_from < model.layers;
  if (has_window && model.window_from > 0) return Architecture::ministral;
  // If heads do not divide `hidden`, transformers 5 refuses a Llama, but not a Mistral.
  bool const heads_divide = model.hidden % model.heads == 0;
  return has_window || !heads_divide ? Architecture::mistral : Architecture::llama;
}

}  // namespace

std::string_view class_name(Architecture architecture) {
  return row_of(architecture).class_name;
}

std::string_view model_type(Architecture architecture) {
  return row_of(architecture).model_type;
}

std::optional<Architecture> architecture_named(std::string_view name) {
  auto const found = std::ranges::find(kArchitectures, name, class_name);
  return found == kArchitectures.end() ? std::nullopt : std::optional(*found);
}

ModelConfig model_of(Architecture architecture) {
  auto const& row = row_of(architecture);
  ModelConfig model;
  model.family = row.family;
  model.qkv_bias = row.qkv_bias;
  model.qk_norm = row.qk_norm;
  return model;
}

Architecture architecture_of(ModelConfig const& model) {
  switch (model.family) {  // without a default, so that a new family does not compile unseen
    case Family::bert:
      return Architecture::bert;
    case Family::t5:
      return Architecture::t5;
    case Family::llama:
      return of_llamas(model);
    case Family::gpt:
      break;
  }
  require(model.bias, "model.bias", "false: GPT2LMHeadModel has biases, and no other fits");
  return Architecture::gpt2;
}

}  // namespace spillway
