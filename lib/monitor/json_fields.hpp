// Reads fields of JSON that people and tools may have changed. What is not there, or of another
// kind, is empty.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plan/data/plan.hpp"

namespace spillway {

// Returns the value, or nullptr.
nlohmann::json const* find(nlohmann::json const& object, char const* key);
// Returns a finite number.
std::optional<double> real_at(nlohmann::json const& object, char const* key);
// Returns a number that is not negative, and not so large that sums of such numbers overflow.
std::optional<std::int64_t> count_at(nlohmann::json const& object, char const* key);
std::string text_at(nlohmann::json const& object, char const* key);
// Returns the bytes of the tiers that the object under `key` names.
TierBytes tiers_at(nlohmann::json const& object, char const* key);

}  // namespace spillway
