#include "huggingface/tensor_names.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "huggingface/pattern.hpp"

namespace spillway {
namespace {

std::vector<std::string_view> left_out_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::gpt2:
      return {"transformer.h.N.attn.bias", "transformer.h.N.attn.masked_bias"};
    case Architecture::bert:
      return {"bert.pooler.dense.*", "cls.seq_relationship.*", "bert.embeddings.position_ids"};
    case Architecture::t5:
      return {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"};
    default:
      return {"model.layers.N.self_attn.rotary_emb.inv_freq"};
  }
}

void replace_end(std::string& name, std::string_view before, std::string_view now) {
  if (name.ends_with(before)) name.replace(name.size() - before.size(), before.size(), now);
}

}  // namespace

std::string our_name(Architecture architecture, std::string name) {
  if (architecture == Architecture::gpt2) {
    bool const bare = !name.starts_with("transformer.") && name != head_copy(architecture).copy;
    if (bare) name.insert(0, "transformer.");
  }
  if (architecture == Architecture::bert) {
    replace_end(name, "LayerNorm.gamma", "LayerNorm.weight");
    replace_end(name, "LayerNorm.beta", "LayerNorm.bias");
  }
  return name;
}

bool tensor_is_left_out(Architecture architecture, std::string_view name) {
  return std::ranges::any_of(left_out_of(architecture),
                             [&](auto pattern) { return fits(pattern, name); });
}

TensorCopy head_copy(Architecture architecture) {
  switch (architecture) {
    case Architecture::gpt2:
      return {"lm_head.weight", "transformer.wte.weight"};
    case Architecture::bert:
      return {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"};
    case Architecture::t5:
      return {"lm_head.weight", "shared.weight"};
    default:
      return {"lm_head.weight", "model.embed_tokens.weight"};
  }
}

std::span<TensorCopy const> plain_copies(Architecture architecture) {
  static constexpr std::array of_t5 = {TensorCopy{"encoder.embed_tokens.weight", "shared.weight"},
                                       TensorCopy{"decoder.embed_tokens.weight", "shared.weight"}};
  return architecture == Architecture::t5 ? std::span<TensorCopy const>(of_t5)
                                          : std::span<TensorCopy const>();
}

}  // namespace spillway
