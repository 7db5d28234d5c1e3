#include "plan/explain/compare.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/cost_rows.hpp"

namespace spillway {

namespace {

constexpr std::size_t kNames = 14;  // columns for names

std::string rows(std::vector<Alternative> const& all, PlanCost const& beside,
                 Budgets const& budgets) {
  std::string text;
  for (Alternative const& one : all)
    text += cost_row(one.name, one.cost, change(one.cost.step_s, beside.step_s), budgets, kNames);
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
  auto text = cost_heading(
      "Other ways: the activations of all layers handled alike, the rest as is best then", kNames);
  text += cost_row("this plan", chosen, "", budgets, kNames);
  text += rows(others.alternatives, chosen, budgets);
  text += advice(others.alternatives, chosen);
  text += "\nWhat 1 GiB more would buy, for a step\n";
  for (MoreRoom const& room : others.more)
    text += fmt::format("  {:<14} {}\n", words(room.tier), gain(room, chosen));
  if (others.shardings.empty()) return text;
  text += cost_heading("If ranks shared out state (plan.shard; estimates)", kNames);
  return text + rows(others.shardings, others.shardings.front().cost, budgets);
}

}  // namespace spillway
