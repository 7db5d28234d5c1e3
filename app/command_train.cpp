#include <fmt/core.h>

#include <optional>

#include "app/commands.hpp"
#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "app/failed_job.hpp"
#include "app/train_head.hpp"
#include "base/log.hpp"
#include "base/process_memory.hpp"
#include "base/standard_streams.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/difference.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "huggingface/import_model.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/earlier_checkpoints.hpp"
#include "io/h5/h5_file.hpp"
#include "job/scheduler.hpp"
#include "model/model.hpp"
#include "plan/data/plan.hpp"
#include "plan/explain/compare.hpp"
#include "report/closing_lines.hpp"
#include "report/environment.hpp"
#include "report/page/plan_record.hpp"
#include "run/find_target.hpp"
#include "run/planned_memory.hpp"
#include "run/prepare.hpp"
#include "samples/recipe.hpp"
#include "samples/same_data.hpp"
#include "samples/text_use.hpp"
#include "state/checkpoints.hpp"
#include "state/kept_configs.hpp"
#include "state/restored_start.hpp"
#include "state/resume.hpp"
#include "state/same_start.hpp"
#include "train/learning_rate.hpp"
#include "train/summarize.hpp"
#include "train/trainer.hpp"

namespace spillway {
namespace {

// A Start holds what a run reads and decides before it uses any device.
struct Start {
  Config config;
  std::optional<RunDir> run_dir;  // present on rank 0 only
  std::optional<Data> data;
  std::optional<Resumption> resumption;
  CarriedFiles carried;                   // empty except on rank 0
  std::vector<std::string> changed = {};  // the keys of the Config that a resumed run has changed

  bool resumed() const { return resumption && resumption->whole; }
  bool leaves_base() const {
    return resumption && spillway::leaves_base(*resumption, config, data->vocab);
  }
  // Returns the Arithmetic of the run that is resumed, or null if no run is resumed.
  Arithmetic const* arithmetic() const {
    return resumed() ? &resumption->state.arithmetic : nullptr;
  }
  // Returns the algorithms of products that the run has had so far.
  ProductChoices products() const {
    return resumed() ? resumption->state.arithmetic.products : ProductChoices{};
  }
};

Config read_config(TrainArguments const& arguments) {
  return with_saved_plan(
      load_config(arguments.input, arguments.overrides, where_it_computes, import_model),
      where_it_computes);
}

// Locks the run directory against other jobs, and logs what mend_latest changes in it.
void take_run_dir(Start& start) {
  start.run_dir.emplace(start.config.run.dir);
  try {
    for (auto const& line : mend_latest(start.config.run.dir)) log_warning("{}", line);
  } catch (Error const& error) {  // damaged checkpoints matter only to a run that resumes
    if (start.config.run.checkpoint.resume != Resume::never || error.status() == Status::storage)
      throw;
  }
}

// Logs the keys that a resumed run has changed, and lets the data go on after the run's last
// sample.
void take_up(Start& start, Comm& comm) {
  auto const& resumption = *start.resumption;
  auto const before = stored_config(resumption);
  start.changed = differences(before, start.config);
  for (auto const& line : start.changed) log_info("{}", line);
  auto const rate = changed_rate(before, start.config, resumption.state.step);
  if (!rate.empty() && comm.rank() == 0) log_warning("{}", rate);
  on_all_ranks(comm, [&] {
    auto const said =
        go_on(*start.data, start.config, resumption.state, resumption.checkpoint.string());
    if (comm.rank() == 0)
      for (auto const& line : said) log_warning("{}", line);
  });
}

// Logs how much of the training text no step reads.
void say_unused(Data const& data) {
  auto const line = describe_unused(data.train, data.recipe, "data.train");
  if (!line.empty()) log_info("{}", line);
}

RunEvent began(Start const& start, std::optional<double> predicted_step_s) {
  RunEvent event{start.resumed() ? "resume" : "start", 0, {}, start.changed, predicted_step_s};
  if (start.resumed()) event.step = start.resumption->state.step;
  if (start.resumption) event.more.emplace_back("from", start.resumption->checkpoint.string());
  if (auto const job = job_name(); !job.empty()) event.more.emplace_back("job", job);
  return event;
}

// Warns if trained weights are trained on at the rate that is the default for new ones.
void say_default_rate(Start const& start) {
  bool const begins_trained = start.resumption && !start.resumption->whole;
  if (!begins_trained || start.config.optim.lr != OptimConfig{}.lr) return;
  log_warning(
      "optim.lr: {:g}, the default, is for weights that begin at random: those of {} may forget "
      "what they know; optim.lr=2e-5 and optim.warmup=50 are usual to go on from trained ones",
      start.config.optim.lr, start.resumption->checkpoint.string());
}

Start begin(TrainArguments const& arguments, Comm& comm) {
  Start start;
  on_all_ranks(comm, [&] { start.config = read_config(arguments); });
  comm.set_patience(start.config.run.peer_timeout_s);
  require_same_config(comm, start.config);
  on_all_ranks(comm, [&] {
    // run.dir is checked before require_spill_directory may create a directory below it.
    if (comm.rank() == 0) require_run_place(start.config.run.dir);
    start.data = open_data(start.config);
    require_spill_directory(start.config.memory);
  });
  require_same_files(comm, "data.train", start.data->train.tokens);
  if (start.data->valid) require_same_files(comm, "data.valid", start.data->valid->tokens);
  if (comm.rank() == 0)
    for (auto const& line : start.data->said) log_warning("{}", line);
  on_all_ranks(comm, [&] {
    if (comm.rank() == 0) take_run_dir(start);
  });
  on_all_ranks(comm, [&] {
    start.resumption = find_resumption(start.config, start.data->vocab);
    if (start.resumption && start.resumption->imported)
      require_own_ids(start.config.data, objective_of(start.config));
  });
  auto const& found = start.resumption;
  require_same_checkpoint(comm, found ? found->checkpoint.string() : start.config.run.dir,
                          found ? &found->state : nullptr);
  on_all_ranks(comm, [&] {
    if (!start.run_dir) return;
    say_default_rate(start);
    if (start.resumption) say_other_base(*start.resumption);
    start.carried = carried_by(start.resumption);
    auto const& trained = start.data->train.tokens.files().front();
    if (start.resumption)
      require_own_tokens(*start.resumption, start.carried, "data.train: " + trained.path().string(),
                         tokenizer_of(trained.layout()));
  });
  return start;
}

// Returns the run's Config, in which every `auto` is replaced by the value that was chosen.
Config resolved(Start const& start, PlannedRun const& planned, Target const& target) {
  auto config = start.config;
  config.run.threads = planned.train.arithmetic.threads;
  config.run.host_threads = target.machine.host_threads();
  config.batch.micro = planned.train.arithmetic.micro;
  config.model.vocab = start.data->vocab;
  config.memory = {target.budgets.device_bytes, target.budgets.host_bytes,
                   config.memory.nvme_paths_here(), config.memory.nvme_bytes_here()};
  config.plan.prefetch = planned.plan.prefetch;
  config.plan.group = planned.plan.group;
  if (!planned.plan.redo) config.plan.early = planned.plan.early;
  if (!config.plan.shard_ranks) config.plan.shard_ranks = shard_ranks(planned.plan);
  return config;
}

void write_plan(RunDir const& dir, std::string const& plan, std::string const& explanation,
                std::string const& record) {
  dir.write("plan.yaml", plan);
  dir.write("plan.json", record);
  dir.write("plan.txt", explanation + std::string(kHowToCompare));
}

void write_config(Start const& start, std::string const& text) {
  std::optional<ChangedConfig> changed;
  if (!start.changed.empty()) changed = ChangedConfig{start.resumption->state.config, text};
  if (start.resumed()) keep_configs(start.config.run.dir, start.resumption->state.step, changed);
  start.run_dir->write("config.yaml", text);
}

// Returns whether the job before this one had the same plan.
bool is_plan_before(Start const& start, std::string const& plan) {
  constexpr std::int64_t most_bytes = 1 << 26;
  if (!start.resumed()) return false;
  try {
    return read_text(start.run_dir->path() / "plan.yaml", most_bytes) == plan;
  } catch (Error const&) {  // there is none, or none that can be read
    return false;
  }
}

// Says the head, and the plan in brief unless it is the one of the job before.
void say_plan(Start const& start, PlannedRun const& planned, std::string const& head,
              std::string const& brief, std::string const& plan) {
  auto const file = (start.run_dir->path() / "plan.txt").string();
  if (is_plan_before(start, plan))
    say(head + fmt::format("  {:<11}as it was: {}\n\n", "plan", file));
  else
    say(head + "\n" + brief + fmt::format("More of this plan, and why: {}\n\n", file));
  auto const warning =
      warning_of_narrow_sums(start.config.optim, longest_step(planned).micro_batches);
  if (!warning.empty()) log_warning("{}", warning);
}

// Says and writes what is planned. Returns how long a step takes as planned, which is as long as
// that of a rank with the most micro-batches.
double tell(Start const& start, ThisJob const& job, PlannedFor const& made,
            std::string const& plan) {
  auto const texts = plan_texts(made);
  say_plan(start, made.planned, head_of(job, *start.data, made, texts), texts.brief, plan);
  write_plan(*start.run_dir, plan, texts.whole,
             plan_record(made.planned, made.simulation, made.limits));
  return texts.step_s;
}

ThisJob job_here(Start const& start, ComputeHere const& compute, std::optional<double> max_time_s,
                 SteadyClock::time_point begin, Comm& comm) {
  ThisJob job{host_names(comm), compute.where()};
  if (start.resumed()) job.steps_done = start.resumption->state.step;
  if (max_time_s) job.limit_s = std::max(0.0, *max_time_s - seconds_since(begin));
  return job;
}

Status finished_before(Start const& start) {
  // A job that was killed while it saved may have left an unfinished checkpoint, which is removed.
  if (start.run_dir) abandon_checkpoint(start.config.run.dir);
  log_info("{}: already at step {}: nothing to do", start.config.run.dir,
           start.resumption->state.step);
  return Status::done;
}

StartedModel start_state(Start const& start, Arithmetic const& arithmetic, ModelState& model,
                         Comm& comm) {
  auto const tokenizer = tokenizer_of(start.data->train.tokens.files().front().layout());
  auto started = start_model(start.config, start.data->vocab, tokenizer, arithmetic,
                             start.resumption, model, comm);
  started.state.data = to_json(start.data->samples);
  if (start.run_dir && start.resumed()) say_difference(*start.resumption, arithmetic);
  return started;
}

// Throws unless all ranks start from the same state and there is room for a checkpoint.
void require_start(Start const& start, StartedModel const& started, std::string const& plan_text,
                   ModelState& model, Comm& comm) {
  on_all_ranks(comm, [&] {
    if (!start.run_dir) return;
    require_checkpoint_space(start.config.run, model, started.state.step, size_bytes(start.carried),
                             stored_by(started.state));
  });
  require_same_start(comm, started, plan_text);
}

// Trains, and tells how that ended where it ends with an exception. Fills in `parts`.
Status train(Trainer& trainer, RunState const& state, RunEvent const& row, SummaryParts& parts,
             RunDir const* dir) {
  auto const begin = SteadyClock::now();
  try {
    auto const status = trainer.run(state, row);
    parts.train_s = seconds_since(begin);
    parts.exit = static_cast<int>(status);
    return status;
  } catch (std::exception const& error) {
    parts.train_s = seconds_since(begin);
    if (dir != nullptr) tell_failure(error, parts, *dir);
    throw;
  }
}

void write_summary(RunDir const& dir, Summary const& summary, Config const& config) {
  say(closing_lines(summary, config));
  try {
    dir.write("summary.json", to_json(summary) + "\n");
  } catch (Error const& error) {  // only logged, since the trained model is safe in its checkpoint
    log_warning("summary.json: {}", error.what());
  }
}

// Runs the job that has begun. Sets `trains` once it tells its end itself.
Status run_job(Start& start, SteadyClock::time_point process_begin, bool& trains, Comm& comm) {
  // 1. Go on where an earlier run ended.
  if (start.resumed()) take_up(start, comm);
  on_all_ranks(comm, [&] { say_unused(*start.data); });
  auto const max_time_s = time_limit_s(start.config.run, process_begin, comm);

  // 2. Learn what the machine can do.
  ComputeHere const compute(start.config, run_cores(comm), start.arithmetic(),
                            device_backend(start.config), comm);
  log_info("computes on {}", compute.where());
  auto const target = target_here(start.config, start.data->vocab, compute,
                                  common_budgets(start.config, compute, comm), comm);
  auto const& machine = target.machine;
  auto const& limits = target.budgets;

  // 3. Make Graph, Plan and Program, and allocate their memory.
  PlanParts const parts{start.config, start.data->vocab,        target,
                        *compute,     available_memory_bytes(), start.products()};
  PlannedMemory settled(parts, comm);
  auto const& planned = settled.run();
  auto& memory = settled.memory();
  auto const plan_text = to_yaml(planned.plan, planned.train);
  auto const simulation = simulate(planned.programs.train, machine);
  auto const this_job = job_here(start, compute, max_time_s, process_begin, comm);
  auto const environment = environment_json(this_job.hosts, planned.train.arithmetic, *compute);
  bool const leaves_base = start.leaves_base();
  double predicted_step_s = 0;  // 0 on ranks that write nothing
  on_all_ranks(comm, [&] {
    if (!start.run_dir) return;
    auto const longest = planned.longest ? simulate(*planned.longest, machine) : simulation;
    predicted_step_s = tell(
        start, this_job, {start.config, planned, longest, machine, limits, leaves_base}, plan_text);
    write_config(start, to_yaml(resolved(start, planned, target)));
    start.run_dir->write("environment.json", environment + "\n");
  });

  // 4. Bind the Programs, and give the model its initial state.
  std::optional<Trainer> trainer;
  StartedModel started;
  std::int64_t outside_bytes = 0;
  std::optional<std::int64_t> device_outside_bytes;
  auto const pinning = memory.pinning();
  on_all_ranks(comm, [&] {
    if (start.run_dir && memory.spill())
      for (auto const& line : memory.spill()->advice()) say(line);
    if (start.run_dir && pinning) say(describe(*pinning));
    trainer.emplace(TrainerParts{start.config, *start.data, planned, simulation, machine, limits,
                                 memory, *compute, comm, start.run_dir ? &*start.run_dir : nullptr,
                                 start.carried, this_job.hosts, process_begin, max_time_s,
                                 leaves_base});
    warm_up_hdf5();
    outside_bytes = process_memory().resident_bytes - memory.held_bytes();
    device_outside_bytes = memory.device_outside_bytes();
    started = start_state(start, planned.train.arithmetic, trainer->model(), comm);
  });
  require_start(start, started, plan_text, trainer->model(), comm);

  // 5. Train.
  comm.forget_waits();
  SummaryParts end{start.config, machine,       memory,
                   *trainer,     outside_bytes, device_outside_bytes,
                   pinning,      process_begin, seconds_since(process_begin)};
  auto const* const dir = start.run_dir ? &*start.run_dir : nullptr;
  trains = true;
  auto const status = train(*trainer, started.state, began(start, predicted_step_s), end, dir);
  auto const summary = summarize(end, comm);
  if (dir != nullptr) write_summary(*dir, summary, start.config);
  return status;
}

}  // namespace

Status run_train(TrainArguments const& arguments, Comm& comm) {
  auto start = begin(arguments, comm);  // what the user asked for, and what an earlier run left
  if (start.resumed() && start.resumption->state.step >= start.config.run.steps)
    return finished_before(start);
  bool trains = false;
  try {
    return run_job(start, arguments.begin, trains, comm);
  } catch (std::exception const& error) {
    if (!trains && start.run_dir)
      tell_failed_start(error, began(start, {}), arguments.begin, *start.run_dir);
    throw;
  }
}

}  // namespace spillway
