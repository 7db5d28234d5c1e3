#include "train/trainer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>

#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"
#include "job/signals.hpp"
#include "state/checkpoints.hpp"
#include "train/commit_policy.hpp"
#include "train/due.hpp"
#include "train/evaluate.hpp"
#include "train/predicted_step.hpp"
#include "train/time_limit.hpp"
#include "train/told_times.hpp"

namespace spillway {
namespace {

// After this many non-finite steps in a row, `non_finite: skip` gives up, because nothing is
// learned.
constexpr std::int64_t kMostSkips = 10;

// An evaluation has micro-batches of the same size, and runs one on each rank as a step.
BatchShape eval_shape(BatchShape const& shape) {
  return {shape.micro * shape.ranks, shape.micro, shape.rank, shape.ranks};
}

EngineDebug engine_debug(Config const& config) {
  return {config.debug.poison, config.debug.locked_allocator};
}

std::optional<SampleLog> sample_log(Config const& config, Comm const& comm) {
  if (!config.debug.log_samples) return std::nullopt;
  return SampleLog(config.run.dir, comm.rank());
}

}  // namespace

double step_flops(Graph const& graph, BatchShape const& shape) {
  double flops = 0;
  for (auto const& op : graph.ops)  // updates come once a step, and are no work of the model
    flops += op.elided || op.phase == Phase::update ? 0 : op.flops;
  auto const at_once = static_cast<double>(shape.micro) * static_cast<double>(shape.ranks);
  return flops * static_cast<double>(shape.sequences) / at_once;
}

Trainer::Bound::Bound(EngineParts const& train, std::optional<EngineParts> const& evaluation,
                      EngineDebug debug, bool state_is_there)
    : engine(train, debug), model(train.program, train.tiers, train.comm.rank(), state_is_there) {
  if (evaluation) eval.emplace(*evaluation, debug);
}

Trainer::Trainer(TrainerParts parts)
    : m_parts(parts),
      m_fault(parse_fault(parts.config.debug.fault)),
      m_shape(batch_shape(parts.config.batch, parts.planned.train.arithmetic.micro,
                          parts.comm.rank(), parts.comm.size())),
      m_sample_log(sample_log(parts.config, parts.comm)),
      m_batches(parts.data.texts(), parts.data.recipe, m_shape,
                m_sample_log ? &*m_sample_log : nullptr),
      m_reporter(parts.config, parts.machine, step_flops(parts.planned.train, m_shape),
                 parts.run_dir, parts.hosts),
      m_replanner({parts.config, parts.data.vocab, parts.planned, parts.simulation, parts.machine,
                   parts.limits, parts.memory, parts.comm}),
      m_waits(parts.comm),
      m_told_waits(static_cast<std::size_t>(parts.comm.size())),
      m_storage_failures(parts.memory.tiers().spill, parts.comm),
      m_pace(predicted_turns()),
      m_step_prediction(predicted_step(parts.planned.programs.train, parts.simulation)),
      m_save_time(m_pace.predicted().save_s) {
  if (parts.planned.programs.eval) {
    m_eval_batches.emplace(*parts.data.valid, parts.data.recipe, eval_shape(m_shape),
                           eval_windows(parts.config, parts.data));
  }
  if (parts.run_dir != nullptr && !parts.config.run.trace.empty())
    m_tracer.emplace(parts.run_dir->path() / "trace.json", parts.config.run.trace);
  trace_plan();
  m_bound = bind(parts.planned.programs, false);
}

std::unique_ptr<Trainer::Bound> Trainer::bind(Compiled const& programs, bool state_is_there) {
  std::optional<EngineParts> eval;
  if (programs.eval) eval.emplace(engine_parts(*programs.eval, *m_eval_batches));
  auto train = engine_parts(programs.train, m_batches);
  if (m_tracer) train.trace = [this](RunTimes const& run) { m_tracer->take(run); };
  return std::make_unique<Bound>(train, eval, engine_debug(m_parts.config), state_is_there);
}

TurnTimes Trainer::predicted_turns() const {
  return spillway::predicted_turns(
      m_replanner.planned(), m_parts.leaves_base, m_replanner.simulation().step_s,
      eval_batches(m_parts.config, m_parts.data, m_shape), m_parts.machine);
}

void Trainer::trace_plan() {
  if (m_tracer) m_tracer->follow(m_replanner.planned().programs.train, m_replanner.simulation());
}

// The engine's threads read m_state and what `note` reads during a step, so all of that changes
// only between steps.
EngineParts Trainer::engine_parts(Program const& program, BatchSource& batches) {
  auto const policy = [this](CommitSums const& sums) {
    auto const& config = m_parts.config;
    return decide_commit(config.optim, config.run.steps, m_state.updates, sums);
  };
  return {program,
          m_parts.memory.tiers(),
          m_parts.compute.kernels,
          m_parts.comm,
          batches,
          CommitPolicy(policy),
          [this] { return note(); },
          m_parts.machine.host_threads(),
          m_parts.compute.make_watch};
}

// Clocks differ, so rank 0 alone says when a checkpoint is due by time.
RankNote Trainer::note() {
  bool const is_late =
      save_is_due_by_time(m_parts.config.run.checkpoint, seconds_since(m_saved_at));
  return {stop_requested(), m_parts.comm.rank() == 0 && is_late, m_replanner.watched_step_s(),
          m_waits.take()};
}

Status Trainer::run(RunState start, RunEvent const& began) {
  m_reporter.event(began);
  m_state = std::move(start);
  if (m_state.step > 0) m_saved_step = m_state.step;  // a checkpoint of this step exists already
  m_save_settings = {m_parts.config.run.checkpoint.keep, m_state.step == 0, &m_parts.carried};
  m_batches.start_at(m_state.step, m_state.samples);
  m_saved_at = m_began_at = SteadyClock::now();
  m_waits.skip();
  auto const status = finish(run_steps());
  RunEvent end{"end", m_state.step};
  end.exit = static_cast<int>(status);
  m_reporter.event(end);
  return status;
}

Status Trainer::run_steps() {
  while (m_state.step < m_parts.config.run.steps) {
    inject_rank_failure();
    if (out_of_time()) request_stop();  // clocks differ, so the commit tells all ranks
    auto const begin = SteadyClock::now();
    auto const saved_s = m_save_time.total_s();
    if (auto const status = step()) return *status;
    auto const turn_s = seconds_since(begin) - (m_save_time.total_s() - saved_s);
    m_longest_turn_s = std::max(m_longest_turn_s, turn_s);
  }
  return Status::done;
}

bool Trainer::out_of_time() const {
  if (!m_parts.max_time_s) return false;
  return must_stop({seconds_since(m_parts.begin), m_longest_turn_s, m_save_time.expected_s(),
                    may_save_after_next()},
                   *m_parts.max_time_s);
}

bool Trainer::may_save_after_next() const {
  return save_may_be_next(m_parts.config.run.checkpoint, m_state.step, seconds_since(m_saved_at),
                          m_longest_turn_s);
}

std::optional<Status> Trainer::step() {
  if (m_sample_log) m_sample_log->begin_step();
  auto const begin = SteadyClock::now();
  auto const result = m_bound->engine.run_step(m_state.step);
  bool const again = result.word == CommitWord::storage_error;
  auto const without = [this] { return do_without_storage(); };
  if (auto const status = m_storage_failures.after(result.word, m_state.step + 1, without))
    return status;
  if (again) {
    m_failed_s += seconds_since(begin);
    return std::nullopt;
  }
  if (auto const status = after_word(result.word)) return status;
  count(result);
  bool const stops = result.note.stop && m_state.step < m_parts.config.run.steps;
  bool const evaluates = !result.note.stop && evaluation_is_due();
  bool const saves = !stops && checkpoint_is_due(result.note);
  if (evaluates || saves) {  // both need all lanes to have ended
    if (auto const status = m_storage_failures.settle(m_bound->engine)) return status;
  }
  report(result, evaluates);
  if (stops) return Status::requeue;
  if (saves) save_now();
  if (evaluates || saves) m_waits.skip();  // a step's waits are those of its own work
  bool const is_told = m_fault.kind == FaultKind::drive_told_slow && m_state.step >= m_fault.number;
  auto const& program = m_replanner.planned().programs.train;
  bool const drifts = m_replanner.has_drifted(
      m_state.step, is_told ? told_of_slow_drive(result, program, m_parts.machine) : result);
  return drifts ? replan() : std::nullopt;
}

std::optional<Status> Trainer::after_word(CommitWord word) {
  if (word == CommitWord::nothing) {  // this does not end a row of skipped steps
    say_nothing_to_predict();
    return std::nullopt;
  }
  bool const skipped = word == CommitWord::non_finite;
  m_skips = skipped ? m_skips + 1 : 0;
  return skipped ? after_skip() : std::nullopt;
}

void Trainer::say_nothing_to_predict() {
  if (m_empty_steps++ > 0 || m_parts.comm.rank() != 0) return;
  log_warning(
      "step {}: nothing to predict in its {} tokens, so it changes nothing; larger batch.sequences "
      "or data.sequence make such steps rarer",
      m_state.step + 1, m_shape.sequences * m_parts.data.recipe.window);
}

std::optional<Status> Trainer::after_skip() {
  auto const step = m_state.step + 1;
  if (m_parts.config.optim.non_finite == NonFinite::stop) {
    if (m_parts.comm.rank() == 0) {
      log_error(
          "step {}: the loss or the gradient norm is not finite (optim.non_finite: stop); "
          "the last checkpoint is unharmed",
          step);
    }
    return Status::non_finite;
  }
  if (m_skips >= kMostSkips) {
    if (m_parts.comm.rank() == 0) {
      log_error("step {}: not finite {} times in a row; the last checkpoint is unharmed", step,
                m_skips);
    }
    return Status::non_finite;
  }
  if (m_parts.comm.rank() == 0)
    log_warning("step {}: loss or gradient norm is not finite; the step is skipped", step);
  return std::nullopt;
}

// A skipped step counts too, because its data are used and it is not run again.
void Trainer::count(StepResult const& result) {
  m_state.step += 1;
  m_state.updates += result.word == CommitWord::go ? 1 : 0;
  m_step_tokens = m_batches.tokens_of(m_state.samples, m_shape.sequences);
  m_state.samples += m_shape.sequences;
  m_state.tokens += m_step_tokens;
  if (m_sample_log) m_sample_log->commit_step(m_state.step);
}

void Trainer::report(StepResult const& result, bool evaluates) {
  m_pace.add_step(result.step_s);
  m_predicted += m_step_prediction;
  auto const valid = evaluates ? evaluate_now() : std::nullopt;
  TierBytes in_use{};
  for (std::size_t tier = 0; tier < in_use.size(); ++tier) {
    in_use[tier] = m_parts.memory.tiers().in_use[tier].value();
  }
  auto const left = time_left(m_parts.config.run, m_state.step, m_pace.times());
  auto const told = reported(result);
  m_reporter.step({m_state.step,
                   m_state.tokens,
                   m_step_tokens,
                   told,
                   in_use,
                   valid,
                   {seconds_since(m_began_at), left.seconds()}});
}

// Returns the result as debug.fault lets it look to those who report it.
StepResult Trainer::reported(StepResult const& result) {
  if (m_fault.kind != FaultKind::rank_told_slow) return result;
  bool const is_slow = m_state.step >= m_fault.number && m_state.step <= 2 * m_fault.number;
  return told_of_rank(result, is_slow, m_told_waits);
}

bool Trainer::evaluation_is_due() const {
  return m_bound->eval && spillway::evaluation_is_due(m_parts.config.run, m_state.step);
}

// Returns nothing if storage failed. The run goes on, since the next step tries again.
std::optional<LossSums> Trainer::evaluate_now() {
  auto const batches = eval_batches(m_parts.config, m_parts.data, m_shape);
  auto const begin = SteadyClock::now();
  try {
    auto const valid = evaluate(*m_bound->eval, batches, m_parts.comm);
    m_pace.add_evaluation(seconds_since(begin));
    m_predicted.evaluation_s += m_pace.predicted().evaluation_s;
    return valid;
  } catch (AgreedError const& error) {
    if (error.status() != Status::storage) throw;
    m_bound->eval->finish();
    if (*error.what() != '\0') {
      log_warning("rank {}: {}; no evaluation after step {}", m_parts.comm.rank(), error.what(),
                  m_state.step);
    }
    m_storage_failures.forget();
    return std::nullopt;
  }
}

bool Trainer::checkpoint_is_due(RankNote const& note) const {
  bool const due = note.save || save_is_due_by_step(m_parts.config.run.checkpoint, m_state.step);
  return due && m_state.step < m_parts.config.run.steps;
}

void Trainer::save_now() {
  auto const failure = save();
  if (!failure) return;
  if (*failure->what() == '\0') return;
  log_error("rank {}: {}; tried again when the next is due", m_parts.comm.rank(), failure->what());
}

std::optional<Error> Trainer::save() {
  m_saved_at = SteadyClock::now();
  if (m_saved_step == m_state.step) return std::nullopt;
  on_all_ranks(m_parts.comm, [this] {
    if (m_parts.run_dir) m_parts.run_dir->require_ours_now();
  });
  try {
    save_checkpoint(m_parts.config.run.dir, model(), m_state, m_save_settings, m_parts.comm);
    auto const seconds = seconds_since(m_saved_at);
    m_save_time.add(seconds);
    m_pace.add_save(seconds);
    m_predicted.saving_s += m_pace.predicted().save_s;
    m_saved_step = m_state.step;
    m_reporter.saved(fmt::format("{}/step-{}", m_parts.config.run.dir, m_state.step), seconds);
    return std::nullopt;
  } catch (AgreedError const& error) {
    // A save that failed counts too, so that no turn includes its time.
    m_save_time.add_failed(seconds_since(m_saved_at));
    m_storage_failures.forget();
    bool const speaks = *error.what() != '\0';
    return Error(
        error.status(),
        speaks ? fmt::format("checkpoint of step {}: {}", m_state.step, error.what()) : "");
  }
}

// Waits for lanes that may still be at work. State is lost, so nothing is saved.
Status Trainer::after_loss() {
  try {
    m_bound->engine.finish();
  } catch (Error const&) {  // the error has been logged
  }
  return Status::storage;
}

Status Trainer::finish(Status status) {
  if (m_empty_steps > 1 && m_parts.comm.rank() == 0)
    log_warning("{} steps had nothing to predict", m_empty_steps);
  if (!m_storage_failures.state_lost())
    status = m_storage_failures.settle(m_bound->engine).value_or(status);
  if (m_storage_failures.state_lost()) return after_loss();
  if (status == Status::non_finite) return status;  // not saved, since the weights may be bad
  if (auto const failure = save()) {
    if (*failure->what() != '\0') {
      log_error("rank {}: {}; it was the last one; those before it are unharmed",
                m_parts.comm.rank(), failure->what());
    }
    return failure->status() == Status::cannot_fit ? Status::cannot_fit : Status::storage;
  }
  if (status == Status::requeue) {
    log_info("stopped as asked after step {}; the same command goes on from there", m_state.step);
  }
  return status;
}

std::array<double, kOpKinds> Trainer::op_seconds() const {
  return seconds_by_kind(m_replanner.planned().programs.train, m_bound->engine.last_step_times());
}

TrainingTimes Trainer::predicted_times() const {
  auto times = m_predicted;
  times.whole_s += times.evaluation_s + times.saving_s;
  return times;
}

TrainingTimes Trainer::training_times(double whole_s) const {
  auto const& lanes = m_reporter.lanes();
  return {lanes.compute_work_s,
          lanes.compute_stall_s,
          m_pace.evaluations_s(),
          m_save_time.total_s(),
          m_failed_s,
          m_replanning_s,
          whole_s};
}

void Trainer::inject_rank_failure() {
  bool const chosen = m_parts.comm.rank() == m_parts.comm.size() - 1;
  if (m_fault.kind == FaultKind::kill_rank && chosen && m_state.step + 1 == m_fault.number) {
    std::raise(SIGKILL);
  }
}

}  // namespace spillway
