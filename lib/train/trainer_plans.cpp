// Changes a Trainer's plan between steps.
#include <fmt/core.h>

#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"
#include "plan/data/plan.hpp"
#include "train/change_places.hpp"
#include "train/predicted_step.hpp"
#include "train/trainer.hpp"

namespace spillway {

std::optional<Status> Trainer::replan() {
  if (auto const status = m_storage_failures.settle(m_bound->engine)) return status;
  auto const begin = SteadyClock::now();
  auto better = m_replanner.look_for_better(m_state.step);
  auto const status = better ? adopt(std::move(*better)) : std::nullopt;
  m_replanning_s += seconds_since(begin);
  return status;
}

// Returns nothing if the run goes on. Keeps the old plan if there is no memory for the change.
std::optional<Status> Trainer::adopt(NewPlan plan) {
  if (auto const status = m_storage_failures.settle(m_bound->engine)) return status;
  auto const& programs = plan.run->programs;
  PlaceChange const change{m_replanner.planned().programs.train, plan.move, programs.train};
  auto const moved =
      change_places(m_parts.memory, m_parts.comm, change, [this, &plan] { run_move(plan.move); });
  if (moved == Moved::nothing) return std::nullopt;
  if (moved == Moved::state_lost) {
    m_storage_failures.lose_state();
    return Status::storage;
  }
  auto const why = plan.why;
  on_all_ranks(m_parts.comm, [&] { m_bound = bind(programs, true); });
  if (m_tracer) m_tracer->settle();
  m_replanner.adopt(std::move(plan), m_state.step);
  m_step_prediction =
      predicted_step(m_replanner.planned().programs.train, m_replanner.simulation());
  trace_plan();
  m_pace.change_plan(predicted_turns());
  m_reporter.change_plan();
  RunEvent event{"replan", m_state.step, {{"plan", m_replanner.file()}, {"why", why}}};
  event.predicted_step_s = m_replanner.simulation().step_s;
  m_reporter.event(event);
  write_plan();
  m_waits.skip();
  return std::nullopt;
}

void Trainer::run_move(Program const& move) {
  Engine mover(engine_parts(move, m_batches));
  mover.run_step(m_state.step);
  mover.finish();
  if (mover.storage_failed()) throw Error(Status::storage, m_parts.memory.spill()->first_failure());
}

void Trainer::write_plan() {
  if (m_parts.run_dir == nullptr) return;
  auto const& planned = m_replanner.planned();
  try {
    m_parts.run_dir->write(m_replanner.file(), to_yaml(planned.plan, planned.train));
  } catch (Error const& error) {  // the run does not need the file
    log_warning("{}: {}", m_replanner.file(), error.what());
  }
}

// Returns whether the run has changed to a plan that needs no storage.
bool Trainer::do_without_storage() {
  auto plan = m_replanner.without_storage(m_state.step);
  if (!plan || adopt(std::move(*plan))) return false;
  return m_replanner.planned().programs.train.peak_bytes[index(Tier::nvme)] == 0;
}

}  // namespace spillway
