#include "app/plan_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "app/budget_list.hpp"
#include "app/number_list.hpp"
#include "config/keys.hpp"

namespace spillway {
namespace {

template <class... T>
[[noreturn]] void refuse(fmt::format_string<T...> problem, T&&... values) {
  throw Error(Status::bad_input, fmt::format(problem, std::forward<T>(values)...));
}

void require_each_once(std::string_view option, std::vector<Variation::Value> const& values) {
  std::set<std::string_view> seen;
  for (auto const& value : values)
    if (!seen.insert(value.text).second) refuse("{}: {} is there twice", option, value.text);
}

// Machines are shown by the names of their files, or by whole paths where names are equal.
Variation machines_of(std::string const& list) {
  Variation result{"machine", {}, {}};
  std::set<std::string> names;
  for (auto const part : list_parts(list)) {
    std::string const path(part);
    if (path.empty()) refuse("--machines {}: a file is missing between commas", list);
    result.values.push_back({path, std::filesystem::path(path).stem().string(), {}});
    names.insert(result.values.back().shown);
  }
  require_each_once("--machines", result.values);
  if (names.size() < result.values.size())
    for (auto& value : result.values) value.shown = value.text;
  return result;
}

Variation ranks_of(std::vector<std::int64_t> const& numbers) {
  Variation result{"ranks", {}, {}};
  for (auto const number : numbers) {
    auto const text = std::to_string(number);
    result.values.push_back({text, text, number});
  }
  require_each_once("--ranks", result.values);
  return result;
}

Variation optimizers_of(std::string const& list) {
  Variation result{"optimizer", {}, {}};
  for (auto const part : list_parts(list)) {
    std::string const word(part);
    if (!parse_word<Optimizer>(word))
      refuse("--optimizers {}: {} is none of {}", list, word, fmt::join(kWords<Optimizer>, ", "));
    result.values.push_back({word, word, {}});
  }
  require_each_once("--optimizers", result.values);
  return result;
}

Variation budgets_of(std::string const& text) {
  auto const list = budget_list(text);
  Variation result{std::string(name(list.tier)), list.tier, {}};
  for (auto const& [value, bytes] : list.values) result.values.push_back({value, value, bytes});
  return result;
}

std::vector<Variation> variations_of(PlanArguments const& arguments) {
  std::vector<Variation> all;
  if (!arguments.machines.empty()) all.push_back(machines_of(arguments.machines));
  if (arguments.all_ranks.size() > 1) all.push_back(ranks_of(arguments.all_ranks));
  if (!arguments.optimizers.empty()) all.push_back(optimizers_of(arguments.optimizers));
  for (auto const& text : arguments.budgets) {
    auto budgets = budgets_of(text);
    if (std::ranges::count(all, budgets.name, &Variation::name) > 0)
      refuse("--budgets {}: {} is given twice; give all of its sizes in one list", text,
             budgets.name);
    all.push_back(std::move(budgets));
  }
  return all;
}

// A drive of a machine file needs no path, and one that the input file gives, or gives up, is that
// of this machine.
void set_budget(PlanArguments& arguments, Tier tier, Variation::Value const& value) {
  auto const key = fmt::format("memory.{}", name(tier));
  bool const is_size = value.number.value_or(0) > 0;
  if (tier == Tier::nvme && is_size) {
    if (!arguments.machine.empty()) arguments.overrides.push_back(key + ".path=auto");
    arguments.overrides.push_back(fmt::format("{}.size={}", key, value.text));
  } else {
    arguments.overrides.push_back(fmt::format("{}={}", key, value.text));
  }
}

// What the input file says of keys that the optimizer lacks is of another one.
void set_optimizer(PlanArguments& arguments, std::string const& name) {
  arguments.overrides.push_back("optim.name=" + name);
  Config defaults;
  for (Key const& key : keys_of(defaults))
    if (!key.is_of(parse_word<Optimizer>(name).value()))
      arguments.overrides.push_back(fmt::format("{}={}", key.name, write_key(key)));
}

void set(PlanArguments& arguments, Variation const& variation, Variation::Value const& value) {
  if (variation.tier)
    set_budget(arguments, *variation.tier, value);
  else if (variation.name == "ranks")
    arguments.ranks = *value.number;
  else if (variation.name == "optimizer")
    set_optimizer(arguments, value.text);
  else
    arguments.machine = value.text;
}

}  // namespace

bool asks_for_table(PlanArguments const& arguments) {
  return !arguments.budgets.empty() || !arguments.machines.empty() ||
         !arguments.optimizers.empty() || arguments.all_ranks.size() > 1;
}

PlanTable plan_table(PlanArguments const& arguments) {
  PlanTable table{variations_of(arguments), {{{}, arguments}}};
  for (Variation const& variation : table.variations) {
    if (table.rows.size() * variation.values.size() > kMostRows)
      refuse("a table has at most {} plans, and these lists ask for more; give shorter ones",
             kMostRows);
    std::vector<PlanTable::Row> longer;
    for (auto const& row : table.rows) {
      for (std::size_t at = 0; auto const& value : variation.values) {
        longer.push_back(row);
        longer.back().at.push_back(at++);
        set(longer.back().arguments, variation, value);
      }
    }
    table.rows = std::move(longer);
  }
  return table;
}

bool any_fits(PlanTable const& table) {
  return std::ranges::any_of(table.rows, [](auto const& row) { return row.plan.fits(); });
}

bool has_optimizers(PlanTable const& table) {
  return std::ranges::count(table.variations, "optimizer", &Variation::name) > 0;
}

PlanTable::Row const* fastest_row(PlanTable const& table) {
  PlanTable::Row const* fastest = nullptr;
  for (auto const& row : table.rows) {
    auto const rate = row.plan.tokens_per_s;
    if (rate > (fastest == nullptr ? 0 : fastest->plan.tokens_per_s)) fastest = &row;
  }
  return fastest;
}

PlanTable::Row const* cheapest_row(PlanTable const& table) {
  PlanTable::Row const* cheapest = nullptr;
  int priced = 0;
  for (auto const& row : table.rows) {
    auto const price = row.plan.run.price;
    if (price <= 0) continue;
    ++priced;
    if (cheapest == nullptr || price < cheapest->plan.run.price) cheapest = &row;
  }
  return priced > 1 ? cheapest : nullptr;
}

double asked_tokens(PlanTable const& table) {
  return table.rows.front().arguments.tokens;
}

PlanTable::Row const* least_row(PlanTable const& table, std::size_t variation) {
  PlanTable::Row const* least = nullptr;
  if (!table.variations[variation].tier) return least;
  auto const number = [&](auto const& row) { return *table.value(row, variation).number; };
  for (auto const& row : table.rows) {
    if (!row.plan.fits() || !table.value(row, variation).number) continue;
    if (least == nullptr || number(row) < number(*least)) least = &row;
  }
  return least;
}

}  // namespace spillway
