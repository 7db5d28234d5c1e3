// Names what a directory of PEFT has; only for this folder's sources.
#pragma once

namespace spillway {

inline constexpr char const *kAdapterConfig = "adapter_config.json",
                            *kAdapterWeights = "adapter_model.safetensors";
// PEFT puts this before the names of adapters' tensors.
inline constexpr char const* kAdapterPrefix = "base_model.model.";

}  // namespace spillway
