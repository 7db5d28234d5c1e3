// Rules of docs/huggingface.md on the names of tensors.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "huggingface/architecture.hpp"

namespace spillway {

// The name in our checkpoints, which is that of today's transformers, of what files of some age or
// of a bare model call otherwise.
std::string our_name(Architecture architecture, std::string name);

// Whether a tensor, by our_name, may be left out since no result depends on it.
bool tensor_is_left_out(Architecture architecture, std::string_view name);

// `copy` may be in a file although its values are those of `original`.
struct TensorCopy {
  std::string_view copy, original;
};
// The table of words as the matrix of the head.
TensorCopy head_copy(Architecture architecture);
// Those whose values must be equal.
std::span<TensorCopy const> plain_copies(Architecture architecture);

// BERT's bias of the head: a tied model has the first alone, an untied one both, and adds the
// second.
inline constexpr char const *kTiedBias = "cls.predictions.bias",
                            *kUntiedBias = "cls.predictions.decoder.bias";

}  // namespace spillway
