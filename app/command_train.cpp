#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>

#include "app/commands.hpp"
#include "base/units.hpp"
#include "comm/on_all_ranks.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "kernels/exec.hpp"
#include "kernels/scope.hpp"
#include "profile/machine_probe.hpp"
#include "runtime/process_memory.hpp"
#include "train/checkpoints.hpp"
#include "train/plan_run.hpp"
#include "train/resume.hpp"
#include "train/summarize.hpp"
#include "train/trainer.hpp"

namespace spillway {
namespace {

// What stands before any device is touched.
struct Start {
  Config config;
  std::optional<RunDir> run_dir;  // rank 0
  std::optional<Data> data;
  std::optional<Resumption> resumption;
  Choices choices;
};

Start begin(TrainArguments const& arguments, Comm& comm) {
  Start start;
  on_all_ranks(comm, [&] { start.config = load_config(arguments.input, arguments.overrides); });
  on_all_ranks(comm, [&] {
    start.data = open_data(start.config);
    require_spill_directory(start.config.memory);
  });
  on_all_ranks(comm, [&] {
    if (comm.rank() == 0) start.run_dir.emplace(start.config.run.dir);
  });
  on_all_ranks(
      comm, [&] { start.resumption = find_resumption(start.config, start.data->vocab); });
  auto const* before = start.resumption ? &start.resumption->state.arithmetic : nullptr;
  start.choices = choose(start.config, before, available_cores() / comm.local_size(), comm.size());
  return start;
}

void write_papers(RunDir const& dir, Start const& start, PlannedRun const& planned,
                  Simulation const& simulation) {
  auto const text = explain(planned.train, planned.plan, planned.programs.train, simulation);
  dir.write("config.yaml", to_yaml(start.config));
  dir.write("plan.yaml", to_yaml(planned.plan, planned.train));
  dir.write("plan.txt", text);
  fmt::print(stderr, "{}\n", text);
}

Status finished_before(Start const& start, Comm& comm) {
  if (comm.rank() == 0) {
    spdlog::info("{}: already at step {}: nothing to do", start.config.run.dir,
                 start.resumption->state.step);
  }
  return Status::done;
}

}  // namespace

Status run_train(TrainArguments const& arguments, Comm& comm) {
  // 1. What the user asked for, and what an earlier run left.
  auto start = begin(arguments, comm);
  if (start.resumption && start.resumption->whole &&
      start.resumption->state.step >= start.config.run.steps) {
    return finished_before(start, comm);
  }

  // 2. The machine.
  KernelScope const kernels(static_cast<int>(start.choices.threads));
  Exec const exec;
  auto machine = probe_machine(exec, start.config.precision == Precision::bf16);
  on_all_ranks(comm, [&] {
    auto const& spill_dir = start.config.memory.nvme_path;
    if (!spill_dir.empty()) probe_storage(machine, spill_dir);
  });

  // 3. Graph, Plan, Program.
  std::optional<PlannedRun> planned;
  auto const free_bytes = available_memory_bytes();
  on_all_ranks(comm, [&] {
    bool const micro_is_free = !start.config.batch.micro && !start.resumption;
    planned = plan_run(start.config, *start.data, start.choices, micro_is_free,
                       budgets(start.config, free_bytes, comm.local_size()), comm.size());
  });
  auto const simulation = simulate(planned->programs.train, machine);
  on_all_ranks(comm, [&] {
    if (start.run_dir) write_papers(*start.run_dir, start, *planned, simulation);
  });

  // 4. Memory, bound Programs, the model's start.
  std::optional<RunMemory> memory;
  std::optional<Trainer> trainer;
  RunState state;
  std::int64_t outside_bytes = 0;
  on_all_ranks(comm, [&] {
    memory.emplace(start.config, planned->programs.train);
    trainer.emplace(TrainerParts{start.config, *start.data, planned->train, planned->programs,
                                 machine, *memory, exec, comm,
                                 start.run_dir ? &*start.run_dir : nullptr});
    outside_bytes = process_memory().resident_bytes;
    state = start_model(start.config, *start.data, planned->train.arithmetic, start.resumption,
                        trainer->model());
    if (start.run_dir) require_checkpoint_space(start.config.run, trainer->model(), state.step);
  });

  // 5. Train.
  auto const status = trainer->run(state);
  auto const summary = summarize(
      {start.config, planned->programs.train, simulation, *memory, *trainer, outside_bytes, status},
      comm);
  if (start.run_dir) start.run_dir->write("summary.json", to_json(summary) + "\n");
  if (start.run_dir) fmt::print(stderr, "{}", closing_lines(summary, start.config));
  return status;
}

}  // namespace spillway
