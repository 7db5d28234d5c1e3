// A Pace knows how long steps, evaluations and checkpoints take, to tell when a run will end.
#pragma once

#include <cstdint>

#include "config/config.hpp"
#include "plan/data/machine.hpp"
#include "report/time_left.hpp"
#include "run/plan_run.hpp"

namespace spillway {

// The seconds of a step, of an evaluation and of a checkpoint. An evaluation takes none if there is
// no validation set.
struct TurnTimes {
  double step_s = 0, evaluation_s = 0, save_s = 0;
};

// Returns what is predicted for a step of `step_s`, an evaluation of `eval_batches` batches, and a
// checkpoint.
TurnTimes predicted_turns(PlannedRun const& planned, bool leaves_base, double step_s,
                          std::int64_t eval_batches, Machine const& machine);

// Returns what is left to do of the run after `done` steps, with the evaluations and checkpoints
// that are due. Those after the last step count, too.
TimeLeft time_left(RunConfig const& run, std::int64_t done, TurnTimes const& times);

class Pace {
 public:
  explicit Pace(TurnTimes const& predicted) : m_predicted(predicted), m_times(predicted) {}

  // Begins to count steps anew, as those of another plan.
  void change_plan(TurnTimes const& predicted);

  void add_step(double seconds);  // steps are counted by a mean of the last ones
  void add_evaluation(double seconds);
  void add_save(double seconds);

  // Returns what was measured or, of what there was none yet, what was predicted.
  TurnTimes const& times() const { return m_times; }
  // Returns what is predicted of the current plan.
  TurnTimes const& predicted() const { return m_predicted; }
  std::int64_t evaluations() const { return m_evaluations; }
  std::int64_t saves() const { return m_saves; }
  double evaluations_s() const { return m_evaluations_s; }

 private:
  TurnTimes m_predicted, m_times;
  std::int64_t m_steps = 0, m_evaluations = 0, m_saves = 0;
  double m_evaluations_s = 0, m_saves_s = 0;
};

}  // namespace spillway
