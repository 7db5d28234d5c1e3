#include "app/table_closing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "plan/data/words.hpp"

namespace spillway {
namespace {

// Returns what a row is for, of the variations that `wanted` chooses, such as "h100, device=12GiB".
std::string words_of(PlanTable const& table, PlanTable::Row const& row, auto const& wanted) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < table.variations.size(); ++at) {
    auto const& variation = table.variations[at];
    auto const& value = table.value(row, at);
    if (!variation.varies() || !wanted(at)) continue;
    if (variation.tier)
      parts.push_back(fmt::format("{}={}", variation.name, value.shown));
    else
      parts.push_back(variation.name == "ranks" ? count(*value.number, "rank") : value.shown);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Names the least of each budget. Unless they fit together, says with which others each does.
std::string least_words(PlanTable const& table) {
  std::vector<std::size_t> budgets;
  std::vector<PlanTable::Row const*> rows;
  for (std::size_t at = 0; at < table.variations.size(); ++at) {
    auto const* const row = least_row(table, at);
    if (row == nullptr || !table.variations[at].varies()) continue;
    budgets.push_back(at);
    rows.push_back(row);
  }
  auto const is_budget = [&](std::size_t at) { return table.variations[at].tier.has_value(); };
  auto const has_all = [&](PlanTable::Row const& row) {
    bool all = row.plan.fits();
    for (std::size_t n = 0; n < rows.size(); ++n)
      all = all && row.at[budgets[n]] == rows[n]->at[budgets[n]];
    return all;
  };
  if (rows.empty()) return "";
  auto const together = std::ranges::find_if(table.rows, has_all);
  if (together != table.rows.end())
    return words_of(table, *together,
                    [&](std::size_t at) { return std::ranges::count(budgets, at); });
  std::vector<std::string> parts;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    auto const own = [&](std::size_t at) { return at == budgets[n]; };
    auto const others = [&](std::size_t at) { return is_budget(at) && !own(at); };
    parts.push_back(fmt::format("{} with {}", words_of(table, *rows[n], own),
                                words_of(table, *rows[n], others)));
  }
  return fmt::format("{}", fmt::join(parts, ", or "));
}

}  // namespace

std::string closing_words(PlanTable const& table) {
  if (!any_fits(table)) return table.rows.size() > 1 ? "None of them fits." : "";
  std::vector<std::string> parts;
  auto const all = [](std::size_t) { return true; };
  auto const* const fastest = fastest_row(table);
  if (fastest != nullptr && table.rows.size() > 1)
    parts.push_back(fmt::format("the fastest is {}", words_of(table, *fastest, all)));
  if (auto const* const cheapest = cheapest_row(table))
    parts.push_back(fmt::format("the cheapest is {}", words_of(table, *cheapest, all)));
  if (auto const least = least_words(table); !least.empty())
    parts.push_back(fmt::format("the least that fits is {}", least));
  if (parts.empty()) return "";
  parts.front().front() = 'T';
  return fmt::format("{}.", fmt::join(parts, "; "));
}

}  // namespace spillway
