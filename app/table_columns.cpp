#include "app/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/run_text.hpp"

namespace spillway {
namespace {

// Returns a column with what `cell` says of rows that fit.
template <class Cell>
Column column(PlanTable const& table, std::string head, Cell const& cell, bool left = false) {
  Column result{std::move(head), left, {}};
  for (auto const& row : table.rows)
    result.cells.push_back(row.plan.fits() ? cell(row.plan) : std::string());
  return result;
}

std::string bound_text(TriedPlan const& plan) {
  if (plan.bound.lane == Lane::compute) return std::string(words(Lane::compute));
  return fmt::format("{} {}", percent(plan.bound.share, 1), words(plan.bound.lane));
}

// Adds what a run over the tokens takes and costs, as far as any row knows it.
void add_run(PlanTable const& table, std::vector<Column>& columns) {
  auto const tokens = asked_tokens(table);
  auto const add = [&](std::string const& head, double RunCost::*at, auto const& text) {
    auto const value = [&](auto const& row) { return row.plan.run.*at; };
    if (std::ranges::none_of(table.rows, [&](auto const& row) { return value(row) > 0; })) return;
    columns.push_back(column(table, head, [&](TriedPlan const& plan) {
      return plan.run.*at > 0 ? text(plan.run.*at) : "?";
    }));
  };
  if (tokens > 0) {
    add(tokens_text(tokens) + " take", &RunCost::seconds, human_duration);
    add("kWh", &RunCost::energy_kwh, amount_text);
  }
  add(tokens > 0 ? "price" : tokens_text(kPricedTokens) + " cost", &RunCost::price, amount_text);
}

}  // namespace

std::size_t Column::width() const {
  auto result = head.size();
  for (auto const& cell : cells) result = std::max(result, cell.size());
  return result;
}

std::vector<Column> value_columns(PlanTable const& table) {
  std::vector<Column> columns;
  bool const any = std::ranges::any_of(table.variations, &Variation::varies);
  for (std::size_t at = 0; at < table.variations.size(); ++at) {
    auto const& variation = table.variations[at];
    if (any && !variation.varies()) continue;
    bool const is_name = variation.name == "machine" || variation.name == "optimizer";
    columns.push_back({variation.name, is_name, {}});
    for (auto const& row : table.rows) columns.back().cells.push_back(table.value(row, at).shown);
  }
  return columns;
}

std::vector<Column> plan_columns(PlanTable const& table) {
  std::vector<Column> columns;
  columns.push_back(column(table, "a step", [](TriedPlan const& plan) {
    return plan.step_s > 0 ? human_duration(plan.step_s) : "?";
  }));
  columns.push_back(column(table, "tokens/s", [](TriedPlan const& plan) {
    auto const rate = plan.tokens_per_s;
    return rate > 0 ? fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 0) : "?";
  }));
  add_run(table, columns);
  if (has_optimizers(table))
    columns.push_back(column(
        table, "state", [](TriedPlan const& plan) { return bytes_or_dash(plan.state_bytes); }));
  for (Tier const tier : kTiersInOrder) {
    auto const peak = [&](TriedPlan const& plan) { return bytes_or_dash(plan.peak_bytes[tier]); };
    bool const used = std::ranges::any_of(
        table.rows, [&](auto const& row) { return row.plan.peak_bytes[tier] > 0; });
    auto const head = tier == Tier::nvme ? "NVMe" : std::string(name(tier));
    if (used) columns.push_back(column(table, head + " peak", peak));
  }
  columns.push_back(column(table, "bound by", bound_text, true));
  return columns;
}

}  // namespace spillway
