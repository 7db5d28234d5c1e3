#include "app/tried_plan.hpp"

#include <algorithm>

#include "app/run_answer.hpp"
#include "plan/explain/verdict.hpp"
#include "plan/time/critical_path.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {
namespace {

std::int64_t state_bytes(Program const& program) {
  std::int64_t bytes = 0;
  for (auto const& chunk : program.chunks)
    for (auto const& state : chunk.states) bytes += program.tensors[state.tensor].bytes();
  return bytes;
}

TriedPlan row_of(PlannedTarget const& made, double tokens) {
  auto const& program = made.planned.programs.train;
  auto const simulation = simulate(program, made.target.machine);
  TriedPlan row{.step_s = simulation.step_s,
                .peak_bytes = program.peak_bytes,
                .state_bytes = state_bytes(program)};
  row.run = run_of(tokens > 0 ? tokens : kPricedTokens, made.config, made.planned, simulation,
                   made.target.machine);
  if (row.step_s <= 0) return row;
  row.tokens_per_s = tokens_of_step(made.config) / row.step_s;
  auto const path = shares(program, critical_path(program, simulation));
  auto const computing = std::ranges::find(path, Lane::compute, &LaneShare::lane);
  auto const* lane = delaying_lane(path, row.step_s);
  if (lane == nullptr && computing != path.end()) lane = &*computing;
  if (lane != nullptr) row.bound = {lane->lane, lane->seconds / row.step_s};
  return row;
}

}  // namespace

TriedPlan try_plan(Planner& planner, PlanArguments const& arguments,
                   std::vector<std::string> const& overrides, std::int64_t vocab) {
  try {
    return row_of(planner.plan(arguments, config_of(arguments, overrides), vocab),
                  arguments.tokens);
  } catch (Error const& error) {
    bool const is_row = error.status() == Status::cannot_fit || error.status() == Status::bad_input;
    if (!is_row) throw;
    return {.status = error.status(), .why = error.what()};
  }
}

}  // namespace spillway
