// The input of a run that would have made an imported model.
#pragma once

#include <string>

#include "config/config.hpp"
#include "io/tensors/element_type.hpp"

namespace spillway {

// `model` is completed; `type` is that of most of its tensors.
Config imported_config(ModelConfig const& model, ElementType type);

// What a checkpoint calls the tokenizer of a model that has its own: among the files that it
// carries.
inline constexpr char const* kOwnTokenizer = "huggingface";

}  // namespace spillway
