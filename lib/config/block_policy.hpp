// A BlockPolicy says what happens to a block's activations between their forward and backward uses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/tier.hpp"

namespace spillway {

// `keep` leaves activations on the device, `recompute` makes them again, `host` and `nvme` spill
// them. The `light` policies make those again that are cheap to make, and keep or spill the others.
// `recompute` can spill, too: then only the block's input goes away.
enum class BlockPolicy : std::uint8_t {
  keep,
  light,
  recompute,
  host,
  nvme,
  light_host,
  light_nvme,
  recompute_host,
  recompute_nvme
};
inline constexpr int kPolicies = 9;
constexpr std::size_t index(BlockPolicy policy) {
  return static_cast<std::size_t>(policy);
}
template <class T>
using PerPolicy = EnumArray<BlockPolicy, T, kPolicies>;

enum class Repeats : std::uint8_t { nothing, cheap, all };  // what activations are made again

struct PolicyRow {
  BlockPolicy policy;
  std::string_view name;  // the name in input files and plans
  // The sign in pictures of plans: lower case if `light`; M is for main memory and S for storage.
  char letter;
  Repeats repeats;
  // The tier to which activations that are not made again are spilled; empty if they are not
  // spilled.
  std::optional<Tier> away;
  BlockPolicy staying;  // the policy that differs only in that nothing is spilled
};
inline constexpr std::array<PolicyRow, kPolicies> kPolicyTable = [] {
  using enum BlockPolicy;
  return std::array<PolicyRow, kPolicies>{{
      {keep, "keep", 'K', Repeats::nothing, {}, keep},
      {light, "light", 'k', Repeats::cheap, {}, light},
      {recompute, "recompute", 'R', Repeats::all, {}, recompute},
      {host, "host", 'H', Repeats::nothing, Tier::host, keep},
      {nvme, "nvme", 'N', Repeats::nothing, Tier::nvme, keep},
      {light_host, "light+host", 'h', Repeats::cheap, Tier::host, light},
      {light_nvme, "light+nvme", 'n', Repeats::cheap, Tier::nvme, light},
      {recompute_host, "recompute+host", 'M', Repeats::all, Tier::host, recompute},
      {recompute_nvme, "recompute+nvme", 'S', Repeats::all, Tier::nvme, recompute},
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
  return row(policy).repeats == Repeats::cheap;
}
constexpr BlockPolicy staying(BlockPolicy policy) {
  return row(policy).staying;
}

// Returns the policy that differs from `policy` only in that it spills, and to that tier.
constexpr BlockPolicy spilling_to(Tier tier, BlockPolicy policy) {
  for (PolicyRow const& other : kPolicyTable)
    if (other.away == tier && other.staying == staying(policy)) return other.policy;
  return policy;
}

// A BlockPlan is what a plan decides about the activations of one block.
struct BlockPlan {
  BlockPolicy policy = BlockPolicy::keep;
  double fraction = 1;  // the share of the activations' rows that is spilled
  bool operator==(BlockPlan const&) const = default;
};

// Returns the BlockPlan that differs from `block` only in that nothing is spilled.
constexpr BlockPlan staying(BlockPlan const& block) {
  return {staying(block.policy), 1};
}

// Reads text such as "nvme" or "nvme:0.5". Returns nothing if the text names no policy, if it has a
// fraction but its policy spills nothing, or if the fraction is not between 0 and 1.
std::optional<BlockPlan> parse_block_plan(std::string_view text);
// Returns the text from which parse_block_plan makes the same BlockPlan.
std::string to_text(BlockPlan const& block);

}  // namespace spillway
