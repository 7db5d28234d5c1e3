#include <algorithm>

#include "app/commands.hpp"
#include "app/plan_once.hpp"
#include "app/plan_table.hpp"
#include "app/table_json.hpp"
#include "app/table_text.hpp"
#include "base/log.hpp"
#include "base/standard_streams.hpp"
#include "base/work_progress.hpp"
#include "plan/data/machine_file.hpp"

namespace spillway {
namespace {

void refuse(char const* problem) {
  throw Error(Status::bad_input, problem);
}

void require_table_alone(PlanArguments const& arguments) {
  if (arguments.asks_for_one_plan() || !arguments.largest.empty() || arguments.what_if)
    refuse(
        "--budgets, --machines, --optimizers and several --ranks make many plans: --items, "
        "--compare, --save, --trace, --largest and --what-if do not go with them");
  if (arguments.machines.empty()) return;
  if (!arguments.machine.empty())
    refuse("--machines names all machines of the table: --machine does not go with it");
}

// Reads whatever the rows need, so that mistakes are found before anything is planned.
void require_inputs(PlanArguments const& arguments, PlanTable const& table) {
  for (auto const& row : table.rows) {
    bool const is_here = row.arguments.machine.empty();
    if (is_here && arguments.all_ranks.size() > 1)
      refuse(
          "--ranks: this machine is measured for one number of ranks; for several, name a machine "
          "file (--machine FILE), which `spillway profile` writes of this machine, too");
    if (!is_here) load_machine(row.arguments.machine);
    config_of(row.arguments, row.arguments.overrides);
  }
}

}  // namespace

Status run_table(PlanArguments const& arguments) {
  require_table_alone(arguments);
  auto table = plan_table(arguments);
  require_inputs(arguments, table);
  auto const& first = table.rows.front().arguments;
  auto const vocab = vocabulary(config_of(first, first.overrides), !first.machine.empty());
  Planner planner;
  LinesOnce const once;
  WorkProgress progress({"plan", "plans", std::ssize(table.rows)});
  for (auto& row : table.rows) {
    progress.at(&row - table.rows.data());
    row.plan = try_plan(planner, row.arguments, row.arguments.overrides, vocab);
  }
  progress.clear();
  auto const is_wrong = [](auto const& row) { return row.plan.status == Status::bad_input; };
  if (std::ranges::all_of(table.rows, is_wrong)) refuse(table.rows.front().plan.why.c_str());
  print_result(arguments.json ? table_json(table) : table_text(table));
  return any_fits(table) ? Status::done : Status::cannot_fit;
}

}  // namespace spillway
