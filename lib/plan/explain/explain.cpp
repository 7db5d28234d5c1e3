#include "plan/explain/explain.hpp"

#include <fmt/core.h>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/verdict.hpp"

namespace spillway {

namespace {

// Says how many micro-batches a step has, and how many of them walk together.
std::string micro_batches_text(Program const& program) {
  if (program.micro_batches == 1) return "one micro-batch";
  int const most = most_together(program);
  auto const together = most > 1 ? fmt::format(", {} at a time,", most) : "";
  return fmt::format("{} micro-batches{}", program.micro_batches, together);
}

std::string step_line(Program const& program, double step_s, StepRows const& shape) {
  std::int64_t rows = 0;
  for (auto const& [field, stack, tensor] : program.known.batch) {
    if (field == BatchField::tokens) rows += element_count(program.tensors[tensor].shape);
  }
  auto const all = static_cast<double>(rows) * static_cast<double>(program.micro_batches) *
                   static_cast<double>(program.ranks) * shape.filled;
  double const rate = step_s > 0 ? all / step_s : 0;
  auto const chunk = program.arithmetic.mlp_chunk;
  auto const tiles = chunk > 0 && chunk < rows ? fmt::format(", MLPs by {} rows", chunk) : "";
  auto const line = fmt::format(
      "Predicted: {} a step, {:.{}f} tokens/s; {}{} of {} tokens on {}{}{}", human_duration(step_s),
      rate, rate < 10 ? 2 : 0, shape.is_most ? "up to " : "", micro_batches_text(program), rows,
      program.ranks == 1 ? "" : "each of ", count(program.ranks, "rank"), tiles);
  return "\n" + wrapped_line(line);
}

std::string early_line(Plan const& plan) {
  if (plan.redo) return "";
  auto const text = wrapped_line(
      "Updates begin beside the last backward pass: there a failed transfer ends the run.");
  if (plan.early == 100) return text;
  auto const part = fmt::format(
      "Of the chunks that the host updates {} % begin there. The others follow that pass, in the "
      "order in which the next step needs them.",
      plan.early);
  return text + wrapped_line(part);
}

std::string exchanges_line(Plan const& plan) {
  if (plan.exchanges_overlap) return "";
  return "Ranks exchange one gradient after the other, as host memory is short.\n";
}

}  // namespace

std::string explain(Graph const& graph, Plan const& plan, Program const& program,
                    Simulation const& simulation, std::vector<LaneShare> const& path,
                    Machine const& machine, Budgets const& budgets, StepRows const& rows,
                    StepBound const& bound) {
  return wrapped_line(verdict(graph, plan, program, simulation, path, budgets), "") +
         step_line(program, simulation.step_s, rows) + bound_line(simulation.step_s, bound) +
         tiers_table(program, budgets, machine.is_unified()) +
         drive_lines(program, simulation, machine) + "\n" +
         picture(graph, plan, machine.host_threads()) + early_line(plan) + exchanges_line(plan) +
         peaks_text(program) + time_text(program, simulation, path);
}

}  // namespace spillway
