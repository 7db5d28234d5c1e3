// Writes numbers as JSON that may be unknown.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace spillway {

inline nlohmann::ordered_json or_null(std::optional<double> number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace spillway
