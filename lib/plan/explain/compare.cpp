#include "plan/explain/compare.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "plan/data/words.hpp"

namespace spillway {

namespace {

constexpr char kRow[] = "  {:<14} {:>9} {:>7} {:>10} {:>10} {:>10}\n";

std::string row(std::string_view name, PlanCost const& cost, std::string const& change) {
  auto const& peaks = cost.peak_bytes;
  auto const bytes = [&](Tier tier) { return bytes_or_dash(peaks[tier]); };
  return fmt::format(kRow, name, cost.step_s > 0 ? human_duration(cost.step_s) : "?", change,
                     bytes(Tier::device), bytes(Tier::host), bytes(Tier::nvme));
}

std::string too_little(Alternative const& alternative, Budgets const& budgets) {
  auto const missing = missing_bytes(alternative.cost.peak_bytes, budgets);
  std::string text;
  for (Tier const tier : kTiersInOrder) {
    if (missing[tier] == 0) continue;
    if (!has_tier(budgets, tier))
      return fmt::format("  {:<14} not possible: there is no budget of {}\n", alternative.name,
                         words(tier));
    text += fmt::format("{}{} more {}", text.empty() ? "" : " and ", human_bytes(missing[tier]),
                        words(tier));
  }
  auto const step_s = alternative.cost.step_s;
  return fmt::format("  {:<14} does not fit: needs {}{}\n", alternative.name, text,
                     step_s > 0 ? ", then takes " + human_duration(step_s) : "");
}

std::string heading(std::string_view what) {
  return fmt::format("\n{}\n", what) + fmt::format(kRow, "", "step", "", "device", "host", "NVMe");
}

std::string rows(std::vector<Alternative> const& all, PlanCost const& beside,
                 Budgets const& budgets) {
  std::string text;
  for (Alternative const& one : all) {
    text += one.cost.fits ? row(one.name, one.cost, change(one.cost.step_s, beside.step_s))
                          : too_little(one, budgets);
  }
  return text;
}

// Returns a line that names the fastest alternative, if it is faster than the chosen plan.
std::string advice(std::vector<Alternative> const& alternatives, PlanCost const& chosen) {
  Alternative const* best = nullptr;
  for (Alternative const& other : alternatives) {
    double const limit_s = best ? best->cost.step_s : chosen.step_s;
    if (other.cost.fits && other.cost.step_s > 0 && other.cost.step_s < limit_s) best = &other;
  }
  if (!best || change(best->cost.step_s, chosen.step_s) == "same") return "";
  return fmt::format("{} is faster by prediction: plan.activations={} on the command line\n",
                     best->name, best->name.substr(best->name.find('-') + 1));
}

std::string gain(MoreRoom const& more, PlanCost const& chosen) {
  // If the search finds no faster plan with more memory, a run would keep the chosen plan.
  if (!more.cost.fits) return "nothing";
  auto const what = change(more.cost.step_s, chosen.step_s);
  if (what.empty()) return "?";  // nobody knows how long one of the two takes
  if (what == "same" || more.cost.step_s > chosen.step_s) return "nothing";
  return fmt::format("{} instead of {} ({})", human_duration(more.cost.step_s),
                     human_duration(chosen.step_s), what);
}

}  // namespace

std::string compare(PlanCost const& chosen, OtherPlans const& others, Budgets const& budgets) {
  auto text =
      heading("Other ways: the activations of all layers handled alike, the rest as is best then");
  text += row("this plan", chosen, "");
  text += rows(others.alternatives, chosen, budgets);
  text += advice(others.alternatives, chosen);
  text += "\nWhat 1 GiB more would buy, for a step\n";
  for (MoreRoom const& room : others.more)
    text += fmt::format("  {:<14} {}\n", words(room.tier), gain(room, chosen));
  if (others.shardings.empty()) return text;
  text += heading("If ranks shared out state (plan.shard; estimates)");
  return text + rows(others.shardings, others.shardings.front().cost, budgets);
}

}  // namespace spillway
