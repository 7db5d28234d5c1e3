// A policy says what happens to a block's saved activations, in the words of `plan.activations`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/tier.hpp"

namespace spillway {

// With `light`, activations that are cheap to make are made again, and the other activations stay
// on the device or, with `light_host` and `light_nvme`, leave it.
enum class BlockPolicy : std::uint8_t {
  keep,
  light,
  recompute,
  host,
  nvme,
  light_host,
  light_nvme
};
inline constexpr int kPolicies = 7;
constexpr std::size_t index(BlockPolicy policy) {
  return static_cast<std::size_t>(policy);
}
template <class T>
using PerPolicy = EnumArray<BlockPolicy, T, kPolicies>;

// A PolicyRow holds all that can be known of a policy without a model.
struct PolicyRow {
  BlockPolicy policy;
  std::string_view name;  // used in input files and plans
  char letter;            // used in pictures of plans; lower case if `light`
  bool light;             // whether activations that are cheap to make are made again
  // Where the activations that are not made again go. Empty if they stay on the device.
  std::optional<Tier> away;
  BlockPolicy staying;  // the policy that differs only in that nothing leaves
};
inline constexpr std::array<PolicyRow, kPolicies> kPolicyTable = [] {
  using enum BlockPolicy;
  return std::array<PolicyRow, kPolicies>{{
      {keep, "keep", 'K', false, {}, keep},
      {light, "light", 'k', true, {}, light},
      {recompute, "recompute", 'R', false, {}, recompute},
      {host, "host", 'H', false, Tier::host, keep},
      {nvme, "nvme", 'N', false, Tier::nvme, keep},
      {light_host, "light+host", 'h', true, Tier::host, light},
      {light_nvme, "light+nvme", 'n', true, Tier::nvme, light},
  }};
}();
constexpr PolicyRow const& row(BlockPolicy policy) {
  return kPolicyTable[index(policy)];
}

constexpr std::string_view name(BlockPolicy policy) {
  return row(policy).name;
}
constexpr std::optional<Tier> away_tier(BlockPolicy policy) {
  return row(policy).away;
}
constexpr bool is_light(BlockPolicy policy) {
  return row(policy).light;
}
constexpr BlockPolicy staying(BlockPolicy policy) {
  return row(policy).staying;
}

// A BlockPlan is what a plan decides about the activations of one block.
struct BlockPlan {
  BlockPolicy policy = BlockPolicy::keep;
  double fraction = 1;  // share of the rows that leave the device
  bool operator==(BlockPlan const&) const = default;
};

// Returns what a plan says of a block that has the policy `staying` instead, so that nothing leaves
// the device.
constexpr BlockPlan staying(BlockPlan const& block) {
  return {staying(block.policy), 1};
}

// Reads "nvme" or "nvme:0.5". Returns nothing if the text is no policy, if it has a fraction where
// nothing leaves, or if the fraction is not between 0 and 1.
std::optional<BlockPlan> parse_block_plan(std::string_view text);
// Returns the text from which parse_block_plan makes the same BlockPlan.
std::string to_text(BlockPlan const& block);

}  // namespace spillway
