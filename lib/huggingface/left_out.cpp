#include "huggingface/left_out.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "huggingface/key_table.hpp"
#include "huggingface/model_keys.hpp"
#include "huggingface/pattern.hpp"

namespace spillway {
namespace {

constexpr std::string_view kOfAll[] = {
    // Other functions read these, or the tensors say them (types) or the input file does (dropout).
    "architectures", "dtype", "torch_dtype", "use_bfloat16", "*_pdrop", "*dropout*",
    // These are about the file's author, how the model is run, and what is made of its results.
    "transformers_version", "_name_or_path", "name_or_path", "_commit_hash",
    "_attn_implementation*", "attn_implementation", "torchscript", "return_dict", "use_cache",
    "gradient_checkpointing", "chunk_size_feed_forward", "pretraining_tp", "output_past",
    "output_attentions", "output_hidden_states", "tie_last_hidden_states", "unsloth_fixed",
    "unsloth_version", "transformers.js_config", "tf_legacy_loss", "xla_device",
    // These say how parameters were initialised.
    "initializer_range", "initializer_factor",
    // These are for tasks that this program does not have, such as classification.
    "id2label", "label2id", "num_labels", "_num_labels", "problem_type", "finetuning_task",
    "summary_*", "task_specific_params",
    // Old files of GPT-2 give the size of their causal mask, which transformers does not read.
    "n_ctx",
    // These are about the data: the tokenizer and its special tokens.
    "tokenizer_class", "prefix", "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
    "decoder_start_token_id"};

// These say how texts are generated; transformers 4 kept them here. `generate` of this program has
// settings of its own.
constexpr std::string_view kOfGeneration[] = {"max_length",
                                              "min_length",
                                              "do_sample",
                                              "early_stopping",
                                              "num_beams",
                                              "temperature",
                                              "top_k",
                                              "top_p",
                                              "typical_p",
                                              "repetition_penalty",
                                              "length_penalty",
                                              "no_repeat_ngram_size",
                                              "encoder_no_repeat_ngram_size",
                                              "bad_words_ids",
                                              "num_return_sequences",
                                              "output_scores",
                                              "return_dict_in_generate",
                                              "forced_bos_token_id",
                                              "forced_eos_token_id",
                                              "remove_invalid_values",
                                              "exponential_decay_length_penalty",
                                              "suppress_tokens",
                                              "begin_suppress_tokens",
                                              "epsilon_cutoff",
                                              "eta_cutoff",
                                              "encoder_repetition_penalty",
                                              "num_assistant_tokens",
                                              "num_assistant_tokens_schedule",
                                              "assistant_confidence_threshold",
                                              "assistant_lookbehind",
                                              "target_lookbehind",
                                              "num_beam_groups",
                                              "diversity_penalty"};

struct OfSome {
  std::string_view key;
  std::vector<Architecture> architectures;
};

std::vector<OfSome> const& of_some() {
  using enum Architecture;
  static std::vector<Architecture> const llamas = {llama, qwen2, qwen3, mistral, ministral};
  static std::vector<OfSome> const keys = {
      {"reorder_and_upcast_attn", {gpt2}},  // it changes rounding only
      {"n_special", {gpt2}},                // only the first GPT counts its special tokens
      {"predict_special_tokens", {gpt2}},
      {"n_positions", {t5}},                // T5 has no table of positions
      {"max_position_embeddings", llamas},  // llamas have no table of positions
      {"max_sequence_length", llamas},
      {"is_llama_config", llamas},  // written by whoever converted the file
      {"directionality", {bert}},   // it is "bidi" in all files
      {"pooler_*", {bert}},         // sizes of a part that only other tasks use
  };
  return keys;
}

// An Alias is another name of a key, by which transformers sets the key too.
struct Alias {
  Architecture architecture;
  std::string_view alias, key;
};
constexpr Alias kAliases[] = {{Architecture::gpt2, "hidden_size", "n_embd"},
                              {Architecture::gpt2, "max_position_embeddings", "n_positions"},
                              {Architecture::gpt2, "num_attention_heads", "n_head"},
                              {Architecture::gpt2, "num_hidden_layers", "n_layer"},
                              {Architecture::t5, "hidden_size", "d_model"},
                              {Architecture::t5, "num_attention_heads", "num_heads"},
                              {Architecture::t5, "num_hidden_layers", "num_layers"},
                              {Architecture::t5, "head_dim", "d_kv"}};

Json default_of(Architecture architecture, std::string_view key) {
  auto const& [table, column] = key_column(architecture);
  auto const row = std::ranges::find(table.rows, key, &KeyRow::theirs);
  return row == table.rows.end() ? Json() : Json::parse(row->fallback[column]);
}

// Returns whether the key is an alias that says the same as the key itself.
bool repeats(Json const& file, std::string_view key, Architecture architecture) {
  auto const alias = std::ranges::find_if(kAliases, [&](Alias const& one) {
    return one.architecture == architecture && one.alias == key;
  });
  if (alias == std::end(kAliases)) return false;
  auto const said = file.find(alias->key);
  return file.at(std::string(key)) ==
         (said == file.end() ? default_of(architecture, alias->key) : *said);
}

bool says_nothing(Json const& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty());
}

}  // namespace

bool is_left_out(Json const& file, std::string_view key, Architecture architecture) {
  auto const is_meant = [&](std::string_view pattern) { return fits(pattern, key); };
  if (says_nothing(file.at(std::string(key)))) return true;
  if (std::ranges::any_of(kOfAll, is_meant) || std::ranges::count(kOfGeneration, key) > 0)
    return true;
  return repeats(file, key, architecture) || std::ranges::any_of(of_some(), [&](OfSome const& one) {
           return fits(one.key, key) && std::ranges::count(one.architectures, architecture) > 0;
         });
}

}  // namespace spillway
