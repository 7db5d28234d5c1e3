#include "huggingface/key_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace spillway {
namespace {

std::int64_t four_times_hidden(ModelConfig const& model) {
  return 4 * model.hidden;
}
std::int64_t as_many_as_heads(ModelConfig const& model) {
  return model.heads;
}
std::int64_t as_many_as_layers(ModelConfig const& model) {
  return model.layers;
}
std::int64_t no_window(ModelConfig const&) {
  return 0;
}
// If heads do not divide `hidden`, returns 0, which ModelKeys::check refuses.
std::int64_t hidden_by_heads(ModelConfig const& model) {
  return model.hidden % model.heads == 0 ? model.hidden / model.heads : 0;
}

// clang-format off
KeyTable const kGpt2 = {{Architecture::gpt2}, {
    {"vocab_size", "model.vocab", {"50257"}},
    {"n_positions", "model.positions", {"1024"}},
    {"n_embd", "model.hidden", {"768"}},
    {"n_layer", "model.layers", {"12"}},
    {"n_head", "model.heads", {"12"}},
    {"n_inner", "model.ffn", {"null"}, four_times_hidden},
    {"activation_function", "model.activation", {"\"gelu_new\""}},
    {"layer_norm_epsilon", "model.norm_eps", {"1e-5"}},
    {"tie_word_embeddings", "model.tied", {"true"}},
    {"scale_attn_weights", "", {"true"}},
    {"scale_attn_by_inverse_layer_idx", "", {"false"}},
    {"is_causal", "", {"true"}},
    {"add_cross_attention", "", {"false"}},
}};

KeyTable const kBert = {{Architecture::bert}, {
    {"vocab_size", "model.vocab", {"30522"}},
    {"hidden_size", "model.hidden", {"768"}},
    {"num_hidden_layers", "model.layers", {"12"}},
    {"num_attention_heads", "model.heads", {"12"}},
    {"intermediate_size", "model.ffn", {"3072"}},
    {"hidden_act", "model.activation", {"\"gelu\""}},
    {"max_position_embeddings", "model.positions", {"512"}},
    {"type_vocab_size", "model.token_types", {"2"}},
    {"layer_norm_eps", "model.norm_eps", {"1e-12"}},
    {"tie_word_embeddings", "model.tied", {"true"}},
    {"is_decoder", "", {"false"}},
    {"add_cross_attention", "", {"false"}},
    {"position_embedding_type", "", {"\"absolute\""}},
}};

KeyTable const kT5 = {{Architecture::t5}, {
    {"vocab_size", "model.vocab", {"32128"}},
    {"d_model", "model.hidden", {"512"}},
    {"d_kv", "model.head_size", {"64"}},
    {"d_ff", "model.ffn", {"2048"}},
    {"num_layers", "model.layers", {"6"}},
    {"num_decoder_layers", "model.decoder_layers", {"null"}, as_many_as_layers},
    {"num_heads", "model.heads", {"8"}},
    {"relative_attention_num_buckets", "model.relative_buckets", {"32"}},
    {"relative_attention_max_distance", "model.relative_max_distance", {"128"}},
    {"layer_norm_epsilon", "model.norm_eps", {"1e-6"}},
    {"is_encoder_decoder", "", {"true"}},
    {"is_decoder", "", {"false"}},
    {"is_causal", "", {"null"}},  // would be for encoder and decoder alike
}};

KeyTable const kLlamas = {
    {Architecture::llama, Architecture::qwen2, Architecture::qwen3, Architecture::mistral,
     Architecture::ministral}, {
    {"vocab_size", "model.vocab", {"32000", "151936", "151936", "32000", "32000"}},
    {"hidden_size", "model.hidden", {"4096", "4096", "4096", "4096", "4096"}},
    {"intermediate_size", "model.ffn", {"11008", "22016", "22016", "14336", "14336"}},
    {"num_hidden_layers", "model.layers", {"32", "32", "32", "32", "32"}},
    {"num_attention_heads", "model.heads", {"32", "32", "32", "32", "32"}},
    {"num_key_value_heads", "model.kv_heads", {"null", "32", "32", "8", "8"}, as_many_as_heads},
    {"head_dim", "model.head_size", {"null", "null", "128", "null", "null"}, hidden_by_heads},
    {"hidden_act", "", {"\"silu\"", "\"silu\"", "\"silu\"", "\"silu\"", "\"silu\""}},
    {"rms_norm_eps", "model.norm_eps", {"1e-6", "1e-6", "1e-6", "1e-6", "1e-6"}},
    {"tie_word_embeddings", "model.tied", {"false", "false", "false", "false", "false"}},
    {"is_causal", "", {"true", "true", "true", "true", "true"}},
    {"attention_bias", "", {"false", "", "false", "", ""}},
    {"mlp_bias", "", {"false", "", "", "", ""}},
    {"sliding_window", "model.window", {"", "", "", "4096", ""}, no_window},
}};
// clang-format on

}  // namespace

KeyColumn key_column(Architecture architecture) {
  for (auto const* table : {&kGpt2, &kBert, &kT5, &kLlamas}) {
    auto const at = std::ranges::find(table->columns, architecture) - table->columns.begin();
    if (at < std::ssize(table->columns)) return {*table, static_cast<std::size_t>(at)};
  }
  throw std::logic_error("an architecture is in no table of keys");
}

}  // namespace spillway
