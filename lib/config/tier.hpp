// A tier is a kind of memory that a plan uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/enum_array.hpp"

namespace spillway {

enum class Tier : std::uint8_t { device, host, nvme };
inline constexpr int kTiers = 3;
inline constexpr std::array kTiersInOrder = {Tier::device, Tier::host, Tier::nvme};
constexpr std::size_t index(Tier tier) {
  return static_cast<std::size_t>(tier);
}
template <class T>
using PerTier = EnumArray<Tier, T, kTiers>;

// Returns the tier's name in input files and plans.
constexpr std::string_view name(Tier tier) {
  constexpr std::array<std::string_view, kTiers> names = {"device", "host", "nvme"};
  return names[index(tier)];
}
constexpr std::optional<Tier> parse_tier(std::string_view text) {
  for (Tier const tier : kTiersInOrder) {
    if (name(tier) == text) return tier;
  }
  return {};
}

}  // namespace spillway
