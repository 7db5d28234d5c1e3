// Knows the rules of docs/huggingface.md on the names of tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "huggingface/architecture.hpp"

namespace spillway {

// Returns the name of a tensor in our checkpoints, which is that of today's transformers. Old
// files, and files of a model without its head, may have other names.
std::string our_name(Architecture architecture, std::string name);

// Returns whether import may leave out the tensor that our_name calls `name`, because no result
// depends on it.
bool tensor_is_left_out(Architecture architecture, std::string_view name);

// Says that `copy` may be in a file although its values are those of `original`.
struct TensorCopy {
  std::string_view copy, original;
};
// Returns the pair of a tied head: its matrix is a copy of the word embedding.
TensorCopy head_copy(Architecture architecture);
// Returns the copies that must always have the values of their originals.
std::span<TensorCopy const> plain_copies(Architecture architecture);

// BERT's head has a bias under two names: a tied model has the first alone, an untied one has both,
// and adds the second to its logits.
inline constexpr char const *kTiedBias = "cls.predictions.bias",
                            *kDecoderBias = "cls.predictions.decoder.bias";

}  // namespace spillway
