// A Trainer is the loop of a training run. It runs the engine step by step.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/steady_clock.hpp"
#include "comm/rank_wait.hpp"
#include "job/run_dir.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"
#include "report/loss_sums.hpp"
#include "report/reporter.hpp"
#include "report/step_tracer.hpp"
#include "report/time_table.hpp"
#include "run/fault.hpp"
#include "run/run_memory.hpp"
#include "runtime/engine.hpp"
#include "samples/batches.hpp"
#include "samples/data.hpp"
#include "state/checkpoints.hpp"
#include "state/model_state.hpp"
#include "state/run_state.hpp"
#include "train/pace.hpp"
#include "train/replanner.hpp"
#include "train/save_time.hpp"
#include "train/storage_failure_policy.hpp"

namespace spillway {

// Returns the flops of the model for the sequences of a step, as a mean over ranks. Empty rows are
// not counted.
double step_flops(Graph const& graph, BatchShape const& shape);

// All references must outlive the Trainer.
struct TrainerParts {
  Config const& config;
  Data const& data;
  PlannedRun const& planned;
  Simulation const& simulation;  // the simulation of `planned` on `machine`
  Machine const& machine;
  Budgets limits;
  RunMemory& memory;
  Compute const& compute;
  Comm& comm;
  RunDir* run_dir;                        // null except on rank 0
  CarriedFiles const& carried;            // what checkpoints carry; empty except on rank 0
  std::vector<std::string> const& hosts;  // by rank
  SteadyClock::time_point begin;          // when the process began
  std::optional<double> max_time_s;       // limit of the time since `begin`
  bool leaves_base = false;               // whether checkpoints do (state/restored_start.hpp)
};

class Trainer {
 public:
  // Binds the Programs to engines. It touches no planned memory and does not communicate. Throws
  // Error.
  explicit Trainer(TrainerParts parts);

  // The caller fills it before run(), with initial values or from a checkpoint.
  ModelState& model() { return m_bound->model; }

  // Trains from `start` until run.steps steps are done, a stop is requested, or an error leaves the
  // run at its last checkpoint. All ranks must call it. The row `began` is written to metrics.jsonl
  // first, and a row with the end last, unless it throws. Returns how the run ended; any status but
  // `done` has been logged. The model is saved at the end, unless state is lost or not finite.
  Status run(RunState start, RunEvent const& began);

  std::array<double, kOpKinds> op_seconds() const;  // returns seconds of the last step
  Replanner const& plans() const { return m_replanner; }
  Reporter const& reporter() const { return m_reporter; }
  Pace const& pace() const { return m_pace; }
  RunState const& state() const { return m_state; }
  // Returns where this rank's time of training went, of which `whole_s` is all, and what was
  // predicted for the steps, evaluations and checkpoints that there were.
  TrainingTimes training_times(double whole_s) const;
  TrainingTimes predicted_times() const;

 private:
  // Holds what runs the Programs of one plan.
  struct Bound {
    Bound(EngineParts const& train, std::optional<EngineParts> const& eval, EngineDebug debug,
          bool state_is_there);
    Engine engine;
    std::optional<Engine> eval;
    ModelState model;
  };

  std::unique_ptr<Bound> bind(Compiled const& programs, bool state_is_there);
  EngineParts engine_parts(Program const& program, BatchSource& batches);
  void trace_plan();  // lets the tracer follow the current plan
  std::optional<Status> replan();
  std::optional<Status> adopt(NewPlan plan);
  void run_move(Program const& move);
  void write_plan();
  TurnTimes predicted_turns() const;  // of the current plan
  bool do_without_storage();
  Status run_steps();                                 // returns how the last one ends the run
  std::optional<Status> step();                       // returns nothing if the run goes on
  std::optional<Status> after_word(CommitWord word);  // returns nothing if the run goes on
  std::optional<Status> after_skip();
  void say_nothing_to_predict();
  void count(StepResult const& result);
  bool evaluation_is_due() const;
  bool checkpoint_is_due(RankNote const& note) const;
  bool may_save_after_next() const;
  void report(StepResult const& result, bool evaluates);
  std::optional<LossSums> evaluate_now();
  void save_now();
  // Returns nothing on success, otherwise the error, whose text is "" on ranks that do not log it.
  std::optional<Error> save();
  Status after_loss();
  Status finish(Status status);
  void inject_rank_failure();  // does what debug.fault's kill-rank asks for
  StepResult reported(StepResult const& result);
  RankNote note();  // what this rank tells with a commit
  bool out_of_time() const;

  TrainerParts m_parts;
  FaultPlan m_fault;
  BatchShape m_shape;
  std::optional<SampleLog> m_sample_log;  // present if debug.log_samples asks for it
  TrainBatches m_batches;
  std::optional<EvalBatches> m_eval_batches;
  RunState m_state;
  std::int64_t m_saved_step = -1;
  SaveSettings m_save_settings;
  Reporter m_reporter;
  Replanner m_replanner;
  WaitsSince m_waits;
  std::vector<MutualWait> m_told_waits;  // by rank, for debug.fault
  std::optional<StepTracer> m_tracer;    // present on rank 0 if run.trace asks for it
  std::unique_ptr<Bound> m_bound;        // ends before the plans that m_replanner keeps
  StorageFailurePolicy m_storage_failures;
  Pace m_pace;
  TrainingTimes m_step_prediction;  // of a step of the current plan
  TrainingTimes m_predicted;        // sums over what there was
  SaveTime m_save_time;
  std::int64_t m_skips = 0;        // how many non-finite steps came in a row
  std::int64_t m_empty_steps = 0;  // how many steps had nothing to predict
  std::int64_t m_step_tokens = 0;  // how many tokens of the text the last step used
  double m_longest_turn_s = 0;     // a turn is a step with its evaluation
  double m_failed_s = 0, m_replanning_s = 0;
  SteadyClock::time_point m_saved_at, m_began_at;
};

}  // namespace spillway
