// A target is what kernels are compiled for: "host", or an NVIDIA architecture such as "sm_90".
#pragma once

#include <optional>
#include <string_view>

namespace spillway {

inline constexpr std::string_view kHostTarget = "host";

// Returns 90 for "sm_90", and nothing for a text that names no NVIDIA architecture.
std::optional<int> cuda_architecture(std::string_view target);

bool is_target(std::string_view name);

}  // namespace spillway
