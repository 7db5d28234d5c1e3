#include "train/pace.hpp"

#include <algorithm>
#include <cmath>

#include "plan/time/simulate.hpp"
#include "train/save_time.hpp"

namespace spillway {
namespace {

// Counts the numbers of steps behind `done`, up to and with `last`, that `every` divides.
std::int64_t multiples(std::int64_t every, std::int64_t done, std::int64_t last) {
  return every > 0 ? std::max<std::int64_t>(0, last / every - done / every) : 0;
}

std::int64_t evaluations_left(RunConfig const& run, std::int64_t done) {
  bool const last_is_extra = run.eval_every <= 0 || run.steps % run.eval_every != 0;
  return multiples(run.eval_every, done, run.steps) + (last_is_extra ? 1 : 0);
}

// Checkpoints by time begin the wait for the next one by time anew, and so do those by step.
std::int64_t saves_left(RunConfig const& run, std::int64_t done, double step_s) {
  auto const& policy = run.checkpoint;
  auto const steps = static_cast<double>(run.steps - done);
  auto const by_step = multiples(policy.every, done, run.steps - 1) + 1;
  if (!policy.minutes || step_s <= 0) return by_step;
  auto const between = std::max(1.0, std::ceil(60 * *policy.minutes / step_s));
  bool const is_later = policy.every > 0 && between >= static_cast<double>(policy.every);
  return is_later ? by_step : static_cast<std::int64_t>((steps - 1) / between) + 1;
}

}  // namespace

TurnTimes predicted_turns(PlannedRun const& planned, bool leaves_base, double step_s,
                          std::int64_t eval_batches, Machine const& machine) {
  TurnTimes times{.step_s = step_s};
  auto const ranks = planned.programs.train.ranks;
  times.save_s = estimate_save(planned.train, leaves_base, machine, ranks).seconds();
  if (planned.programs.eval)
    times.evaluation_s =
        static_cast<double>(eval_batches) * simulate(*planned.programs.eval, machine).step_s;
  return times;
}

TimeLeft time_left(RunConfig const& run, std::int64_t done, TurnTimes const& times) {
  TimeLeft left{.steps = run.steps - done};
  if (left.steps <= 0) return {};
  left.evaluations = times.evaluation_s > 0 ? evaluations_left(run, done) : 0;
  left.saves = saves_left(run, done, times.step_s);
  left.steps_s = static_cast<double>(left.steps) * times.step_s;
  left.evaluations_s = static_cast<double>(left.evaluations) * times.evaluation_s;
  left.saves_s = static_cast<double>(left.saves) * times.save_s;
  return left;
}

void Pace::change_plan(TurnTimes const& predicted) {
  m_predicted = predicted;
  m_steps = 0;
  m_times.step_s = predicted.step_s;
  if (m_evaluations == 0) m_times.evaluation_s = predicted.evaluation_s;
  if (m_saves == 0) m_times.save_s = predicted.save_s;
}

void Pace::add_step(double seconds) {
  constexpr double weight = 0.1;
  m_times.step_s = m_steps++ == 0 ? seconds : (1 - weight) * m_times.step_s + weight * seconds;
}

void Pace::add_evaluation(double seconds) {
  m_evaluations_s += seconds;
  m_times.evaluation_s = m_evaluations_s / static_cast<double>(++m_evaluations);
}

void Pace::add_save(double seconds) {
  m_saves_s += seconds;
  m_times.save_s = m_saves_s / static_cast<double>(++m_saves);
}

}  // namespace spillway
