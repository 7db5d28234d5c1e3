#include "plan/explain/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "base/wrapped.hpp"
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

// Returns what most of the difference between two steps is, such as ": its longest chain of work
// has 1.2 s more of reading NVMe, 300 ms less of computing", or "" if it is not known.
std::string reason(PlanCost const& other, PlanCost const& chosen) {
  double const whole_s = other.step_s - chosen.step_s;
  double const sign = whole_s < 0 ? -1 : 1;
  auto const difference_s = [&](Lane lane) { return other.chain_s[lane] - chosen.chain_s[lane]; };
  auto const part = [&](Lane lane) {
    auto const seconds = difference_s(lane);
    return fmt::format("{} {} of {}", human_duration(std::abs(seconds)),
                       seconds > 0 ? "more" : "less", words(lane));
  };
  auto const known = [](PlanCost const& cost) {
    return std::ranges::any_of(cost.chain_s, [](double seconds) { return seconds > 0; });
  };
  if (!known(other) || !known(chosen)) return "";
  auto const by_part = [&](Lane lane) { return sign * difference_s(lane); };
  auto const most = std::ranges::max(kLanesInOrder, {}, by_part);
  auto const against = std::ranges::min(kLanesInOrder, {}, by_part);
  auto text = ": its longest chain of work has " + part(most);
  constexpr double worth_a_word = 0.1;
  if (by_part(against) < -worth_a_word * std::abs(whole_s)) text += ", " + part(against);
  return text;
}

// Says which plan a row of what does not fit is about, if one tells what its steps would take.
std::string of_what_lacks(std::vector<Alternative> const& alternatives) {
  auto const tells = [](Alternative const& one) { return !one.cost.fits && one.cost.step_s > 0; };
  if (std::ranges::none_of(alternatives, tells)) return "";
  return "Where nothing fits, a row has the plan that lacks least, and its step with room.\n";
}

// Says why keeping all activations, which repeats and moves none of them, is slower.
std::string surprise(std::vector<Alternative> const& alternatives, PlanCost const& chosen) {
  for (auto const& [name, cost] : alternatives) {
    if (name != "all-keep" || !cost.fits || cost.step_s <= chosen.step_s) continue;
    auto const why = reason(cost, chosen);
    if (!why.empty() && change(cost.step_s, chosen.step_s) != "same")
      return wrapped_line(fmt::format("{} is slower{}", name, why));
  }
  return "";
}

// Returns a line that names the fastest alternative, if it is faster than the chosen plan.
std::string advice(std::vector<Alternative> const& alternatives, PlanCost const& chosen) {
  Alternative const* best = nullptr;
  for (Alternative const& other : alternatives) {
    double const limit_s = best ? best->cost.step_s : chosen.step_s;
    if (other.cost.fits && other.cost.step_s > 0 && other.cost.step_s < limit_s) best = &other;
  }
  if (!best || change(best->cost.step_s, chosen.step_s) == "same") return "";
  auto const why = reason(best->cost, chosen);
  auto const how =
      fmt::format("{} is faster by prediction: plan.activations={} on the command line\n",
                  best->name, best->name.substr(best->name.find('-') + 1));
  return how + (why.empty() ? "" : wrapped_line(fmt::format("{} is faster{}", best->name, why)));
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
      "Other ways: the activations of all layers alike, the rest as is best then", kNames);
  text += cost_row("this plan", chosen, "", budgets, kNames);
  text += rows(others.alternatives, chosen, budgets);
  text += of_what_lacks(others.alternatives);
  text += surprise(others.alternatives, chosen) + advice(others.alternatives, chosen);
  text += "\nWhat 1 GiB more would buy, for a step\n";
  for (MoreRoom const& room : others.more)
    text += fmt::format("  {:<14} {}\n", words(room.tier), gain(room, chosen));
  if (others.shardings.empty()) return text;
  text += cost_heading("What ranks share out (plan.shard): estimates, beside that of none", kNames);
  return text + rows(others.shardings, others.shardings.front().cost, budgets);
}

}  // namespace spillway
