// The columns of a PlanTable, as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/plan_table.hpp"

namespace spillway {

struct Column {
  std::string head;
  bool left = false;               // whether its cells are aligned to the left
  std::vector<std::string> cells;  // one for each row, "" where it has none

  std::size_t width() const;
};

// Returns the columns that say what each row is for. If nothing varies, all values are shown.
std::vector<Column> value_columns(PlanTable const& table);

// Returns the columns that say what comes of it: times, what a run costs, what optimizers keep
// where they vary, peaks of the tiers that a row uses, and which lane a step waits for. Rows that
// do not fit have no text there.
std::vector<Column> plan_columns(PlanTable const& table);

}  // namespace spillway
