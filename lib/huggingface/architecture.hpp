// Says which models of Hugging Face's transformers this program has, too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/config.hpp"

namespace spillway {

enum class Architecture : std::uint8_t { gpt2, bert, t5, llama, qwen2, qwen3, mistral, ministral };
inline constexpr std::array kArchitectures = {
    Architecture::gpt2,  Architecture::bert,  Architecture::t5,      Architecture::llama,
    Architecture::qwen2, Architecture::qwen3, Architecture::mistral, Architecture::ministral};

std::string_view class_name(Architecture architecture);  // for example "GPT2LMHeadModel"
std::string_view model_type(Architecture architecture);  // for example "gpt2"
std::optional<Architecture> architecture_named(std::string_view class_name);

// Returns a model of the architecture's family with what all models of the architecture have. All
// other keys are as in a default Config.
ModelConfig model_of(Architecture architecture);

// Chooses the architecture for the export of a model that was not imported. No key of `model` may
// be left to `auto`. Throws Error(bad_input), naming the key, for a model that no architecture has.
Architecture architecture_of(ModelConfig const& model);

}  // namespace spillway
