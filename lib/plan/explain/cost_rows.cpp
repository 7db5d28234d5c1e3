#include "plan/explain/cost_rows.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

constexpr char kCostRow[] = "  {:<{}} {:>8} {:>7} {:>9} {:>9} {:>9}\n";

std::string too_little(std::string_view name, PlanCost const& cost, Budgets const& budgets,
                       std::size_t width) {
  auto const missing = missing_bytes(cost.peak_bytes, budgets);
  std::string text;
  for (Tier const tier : kTiersInOrder) {
    if (missing[tier] == 0) continue;
    if (!has_tier(budgets, tier))
      return fmt::format("  {:<{}} not possible: there is no budget of {}\n", name, width,
                         words(tier));
    text += fmt::format("{}{} more {}", text.empty() ? "" : " and ", human_bytes(missing[tier]),
                        words(tier));
  }
  auto const then = cost.step_s > 0 ? fmt::format(", then {}", human_duration(cost.step_s)) : "";
  auto const line = fmt::format("  {:<{}} does not fit: needs {}{}", name, width, text, then);
  return wrapped_line(line, std::string(width + 5, ' '));
}

}  // namespace

std::string cost_heading(std::string_view what, std::size_t width) {
  return fmt::format("\n{}\n", what) +
         fmt::format(kCostRow, "", width, "step", "", "device", "host", "NVMe");
}

std::string cost_row(std::string_view name, PlanCost const& cost, std::string_view change,
                     Budgets const& budgets, std::size_t width) {
  if (!cost.fits) return too_little(name, cost, budgets, width);
  auto const bytes = [&](Tier tier) { return bytes_or_dash(cost.peak_bytes[tier]); };
  return fmt::format(kCostRow, name, width, cost.step_s > 0 ? human_duration(cost.step_s) : "?",
                     change, bytes(Tier::device), bytes(Tier::host), bytes(Tier::nvme));
}

}  // namespace spillway
