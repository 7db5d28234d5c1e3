#include "monitor/json_fields.hpp"

#include <cmath>

namespace spillway {

RunJson const* find(RunJson const& object, std::string_view key) {
  auto const found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> real_at(RunJson const& object, std::string_view key) {
  auto const* const value = find(object, key);
  if (value == nullptr || !value->is_number()) return {};
  auto const real = value->get<double>();
  return std::isfinite(real) ? std::optional(real) : std::nullopt;
}

std::optional<std::int64_t> count_at(RunJson const& object, std::string_view key) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  auto const value = real_at(object, key);
  if (!value || *value < 0 || *value > static_cast<double>(most)) return {};
  if (*value != std::floor(*value)) return {};
  return static_cast<std::int64_t>(*value);
}

std::string text_at(RunJson const& object, std::string_view key) {
  auto const* const value = find(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

TierBytes tiers_at(RunJson const& object, std::string_view key) {
  TierBytes bytes{};
  auto const* const tiers = find(object, key);
  if (tiers == nullptr) return bytes;
  for (Tier const tier : kTiersInOrder) bytes[tier] = count_at(*tiers, name(tier)).value_or(0);
  return bytes;
}

}  // namespace spillway
