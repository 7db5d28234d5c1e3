#include "plan/search/need.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/math.hpp"
#include "base/units.hpp"

namespace spillway {

namespace {

// Names the policies of all layers, each policy once.
std::string policies_of(Plan const& plan, Graph const& graph) {
  std::vector<std::string_view> names;
  for (int b = 0; Block const& block : graph.blocks) {
    auto const policy = name(plan.blocks[b++].policy);
    if (block.layer && std::ranges::count(names, policy) == 0) names.push_back(policy);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string describe(Need const& need, Graph const& graph, std::int64_t node_ranks) {
  constexpr std::int64_t mebibyte = 1 << 20;
  auto const budget = [&](Tier tier) {
    return format_bytes(round_up(need.peak_bytes[tier], mebibyte));
  };
  std::string text = "needs at least device " + budget(Tier::device);
  for (Tier const tier : {Tier::host, Tier::nvme}) {
    if (need.peak_bytes[tier] > 0) text += " and " + std::string(name(tier)) + " " + budget(tier);
  }
  if (need.nvme_bytes_per_s > 0) {
    constexpr double mebibyte_s = mebibyte / kDayS;
    auto const node_bytes_per_s = need.nvme_bytes_per_s * static_cast<double>(node_ranks);
    auto const per_day = std::ceil(node_bytes_per_s / mebibyte_s);
    text += " and spill.max_write_per_day " +
            format_bytes(static_cast<std::int64_t>(per_day) * mebibyte);
  }
  return text + " (activations: " + policies_of(need.plan, graph) + ")";
}

}  // namespace spillway
