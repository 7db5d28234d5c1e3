// Reads fields of JSON that people and tools may have changed. What is not there, or of another
// kind, is empty.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "plan/data/plan.hpp"

namespace spillway {

// The JSON of runs keeps the order in which fields were written, for people who look into it.
using RunJson = nlohmann::ordered_json;

// Returns the value, or nullptr if there is none, or if `object` is no object.
RunJson const* find(RunJson const& object, std::string_view key);
// Returns a finite number.
std::optional<double> real_at(RunJson const& object, std::string_view key);
// Returns a whole number that is not negative, and not so large that sums of such numbers overflow.
// Tools may have written it with a point.
std::optional<std::int64_t> count_at(RunJson const& object, std::string_view key);
std::string text_at(RunJson const& object, std::string_view key);
// Returns the bytes of the tiers that the object under `key` names.
TierBytes tiers_at(RunJson const& object, std::string_view key);

}  // namespace spillway
