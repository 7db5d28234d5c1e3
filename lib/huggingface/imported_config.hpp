// Makes the Config of a run that would have made an imported model.
#pragma once

#include <string>

#include "config/config.hpp"
#include "io/tensors/element_type.hpp"

namespace spillway {

// No key of `model` may be left to `auto`. `type` is the type of most of the model's tensors.
Config imported_config(ModelConfig const& model, ElementType type);

// A checkpoint has this name for the tokenizer of a model that came with its own, whose files the
// checkpoint carries.
inline constexpr char const* kOwnTokenizer = "huggingface";

}  // namespace spillway
