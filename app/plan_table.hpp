// A PlanTable asks for a plan for every combination of machines, numbers of ranks, optimizers and
// budgets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/tried_plan.hpp"
#include "config/tier.hpp"

namespace spillway {

// What one option varies.
struct Variation {
  std::string name;          // "machine", "ranks", "optimizer", or the name of a tier
  std::optional<Tier> tier;  // has a value if budgets vary
  struct Value {
    std::string text;                    // as it was given: a path, a number, a size or a word
    std::string shown;                   // as the table shows it
    std::optional<std::int64_t> number;  // of ranks or bytes; none for paths and words
  };
  std::vector<Value> values;

  bool varies() const { return values.size() > 1; }
};

struct PlanTable {
  std::vector<Variation> variations;
  struct Row {
    std::vector<std::size_t> at;  // which value of each variation
    PlanArguments arguments;      // what to plan
    TriedPlan plan = {};
  };
  std::vector<Row> rows;

  Variation::Value const& value(Row const& row, std::size_t variation) const {
    return variations[variation].values[row.at[variation]];
  }
};

inline constexpr std::size_t kMostRows = 64;

// Returns whether a table of plans is asked for.
bool asks_for_table(PlanArguments const& arguments);

// Returns the table, whose rows are not planned yet. The last variation changes from row to row.
// Throws Error(bad_input) if a list is wrong, or if there would be more than kMostRows rows.
PlanTable plan_table(PlanArguments const& arguments);

bool any_fits(PlanTable const& table);

// Returns whether rows tell what their optimizers keep.
bool has_optimizers(PlanTable const& table);

// Returns the row with most tokens a second, the first of equal ones, or null if no row fits or
// nobody knows how long its steps take.
PlanTable::Row const* fastest_row(PlanTable const& table);

// Returns the row whose run costs least, the first of equal ones, or null unless prices of several
// rows are known.
PlanTable::Row const* cheapest_row(PlanTable const& table);

// Returns the number of tokens that the user asks a run to be told for, or 0.
double asked_tokens(PlanTable const& table);

// Returns the row that fits with the smallest budget of a variation, the first of equal ones, or
// null if the variation is of no budgets or no row fits with a size.
PlanTable::Row const* least_row(PlanTable const& table, std::size_t variation);

}  // namespace spillway
