#include "plan/explain/answers.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/cost_rows.hpp"

namespace spillway {
namespace {

constexpr std::size_t kAnswerColumns = 30;  // columns for names

std::string reason(OtherChoice const& choice, PlanCost const& chosen) {
  return change(choice.cost.step_s, chosen.step_s);
}

// Says with which changes a plan fits that does not fit now.
std::string what_makes_it_fit(std::vector<ChangedCost> const& rows) {
  std::vector<std::string_view> fitting;
  for (auto const& row : rows)
    if (row.cost.fits) fitting.push_back(row.change.words);
  if (fitting.empty())
    return "None of these makes it fit; a plan without --what-if says what would.\n";
  return fmt::format("It fits with {}.\n", fmt::join(fitting, ", or "));
}

}  // namespace

Lane busiest_lane(Simulation const& simulation) {
  return *std::ranges::max_element(kLanesInOrder, {}, [&](Lane lane) {
    return lane == Lane::data ? -1 : simulation.busy_s[lane];
  });
}

std::string why_not_text(std::vector<OtherChoice> const& choices, PlanCost const& chosen,
                         Budgets const& budgets, Simulation const& simulation) {
  if (simulation.step_s <= 0) return "";
  auto const busiest = busiest_lane(simulation);
  auto text = fmt::format("\nBusiest: {}, {} of a step.\n", words(busiest),
                          percent(simulation.busy_s[busiest], simulation.step_s));
  if (choices.empty()) return text;
  text += cost_heading("Why not otherwise? This plan with one choice changed", kAnswerColumns)
              .substr(1);
  for (auto const& choice : choices)
    text += cost_row(choice.words, choice.cost, reason(choice, chosen), budgets, kAnswerColumns);
  return text;
}

std::string what_if_text(PlanCost const& now, Budgets const& budgets,
                         std::vector<ChangedCost> const& rows, std::string const& micro) {
  auto text = cost_heading(fmt::format("What if, with micro-batches of {}", micro), kAnswerColumns);
  text = text.substr(1) + cost_row("as it is", now, "", budgets, kAnswerColumns);
  for (auto const& [how, cost] : rows) {
    auto const what = now.fits ? change(cost.step_s, now.step_s) : "";
    text += cost_row(how.words, cost, what, how.budgets, kAnswerColumns);
  }
  return now.fits ? text : text + what_makes_it_fit(rows);
}

}  // namespace spillway
