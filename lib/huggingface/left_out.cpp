#include "huggingface/left_out.hpp"

#include <algorithm>
#include <vector>

#include "huggingface/pattern.hpp"

namespace spillway {
namespace {

constexpr std::string_view kOfAll[] = {
    // What is said otherwise: by the tensors, the input file, or these keys together.
    "architectures", "model_type", "dtype", "torch_dtype", "*_pdrop", "*dropout*",
    // Of whoever wrote the file, and of what is made of the model's results.
    "transformers_version", "_name_or_path", "_attn_implementation*", "torchscript", "return_dict",
    "use_cache", "gradient_checkpointing", "chunk_size_feed_forward", "pretraining_tp",
    "output_past", "output_attentions", "output_hidden_states", "unsloth_fixed", "unsloth_version",
    // How parameters began.
    "initializer_range", "initializer_factor",
    // Of other tasks.
    "id2label", "label2id", "num_labels", "_num_labels", "problem_type", "finetuning_task",
    "summary_*", "task_specific_params", "n_ctx",
    // The data's.
    "tokenizer_class", "bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"};

struct OfSome {
  std::string_view key;
  std::vector<Architecture> architectures;
};

std::vector<OfSome> const& of_some() {
  using enum Architecture;
  static std::vector<Architecture> const llamas = {llama, qwen2, qwen3, mistral};
  static std::vector<OfSome> const keys = {
      {"reorder_and_upcast_attn", {gpt2}},  // changes rounding only
      {"n_special", {gpt2}},                // of the first GPT, which counts its special tokens
      {"predict_special_tokens", {gpt2}},
      {"n_positions", {t5}},                // its positions have no table
      {"max_position_embeddings", llamas},  // nor have theirs
      {"max_sequence_length", llamas},
      {"is_llama_config", llamas},  // of whoever converted the file
      {"directionality", {bert}},   // says "bidi" of all of them
      {"pooler_*", {bert}},         // sizes of a part that only other tasks have
      {"layer_types", {mistral}},   // all of its layers have the window
  };
  return keys;
}

}  // namespace

bool is_left_out(std::string_view key, Architecture architecture) {
  auto const is_meant = [&](std::string_view pattern) { return fits(pattern, key); };
  return std::ranges::any_of(kOfAll, is_meant) ||
         std::ranges::any_of(of_some(), [&](OfSome const& one) {
           return fits(one.key, key) && std::ranges::count(one.architectures, architecture) > 0;
         });
}

}  // namespace spillway
