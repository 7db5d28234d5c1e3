#include "config/block_policy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace spillway {

std::optional<BlockPlan> parse_block_plan(std::string_view text) {
  auto const colon = std::min(text.find(':'), text.size());
  auto const found = std::ranges::find(kPolicyTable, text.substr(0, colon), &PolicyRow::name);
  if (found == kPolicyTable.end()) return {};
  if (colon == text.size()) return BlockPlan{found->policy, 1};
  auto const fraction = parse_fraction(text.substr(colon + 1));
  if (!fraction || !found->away) return {};
  return BlockPlan{found->policy, *fraction};
}

std::string to_text(BlockPlan const& block) {
  auto const policy = std::string(name(block.policy));
  return block.fraction == 1 ? policy : fmt::format("{}:{}", policy, block.fraction);
}

}  // namespace spillway
