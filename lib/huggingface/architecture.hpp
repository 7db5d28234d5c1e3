// The architectures of Hugging Face's transformers that a model of ours can come from or become.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway {

enum class Architecture : std::uint8_t { gpt2, bert, t5, llama, qwen2, qwen3, mistral };

std::string_view class_name(Architecture architecture);  // "GPT2LMHeadModel"

}  // namespace spillway
