#include <fmt/core.h>

#include <filesystem>
#include <span>

#include "app/commands.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "config/load.hpp"
#include "io/inspect/describe.hpp"
#include "io/safetensors/reader.hpp"
#include "monitor/run_record.hpp"
#include "monitor/run_text.hpp"
#include "monitor/runs_table.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/explain/explain.hpp"
#include "plan/listing/listing.hpp"
#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"
#include "run/find_target.hpp"

namespace spillway {
namespace {

// Returns one line for each range of neighbouring words that are equal. The last word also holds
// for all layers or chunks for which `words` has no entry.
std::string describe_list(std::string const& what, std::span<std::string const> words) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < words.size(); first = next) {
    while (next < words.size() && words[next] == words[first]) ++next;
    auto const numbers =
        next - first == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, next - 1);
    text += fmt::format("  {} {:<11} {}\n", what, numbers, words[first]);
  }
  return text;
}

std::string describe_plan(std::string const& path) {
  auto const plan = load_plan(path);
  auto text = fmt::format("plan {}\n", path) + describe_list("layer", texts(plan.activations)) +
              describe_list("chunk", texts(plan.update));
  if (plan.prefetch) text += fmt::format("  prefetch          {}\n", *plan.prefetch);
  if (plan.shard_ranks) text += fmt::format("  shard_ranks       {}\n", word(*plan.shard_ranks));
  if (plan.early) text += fmt::format("  early             {} %\n", *plan.early);
  if (plan.group) text += fmt::format("  group             {}\n", *plan.group);
  return text;
}

constexpr std::int64_t kMostProgramBytes = std::int64_t{1} << 30;

std::string tiers_text(TierBytes const& bytes) {
  return fmt::format("device {}, host {}, nvme {}", human_bytes(bytes[Tier::device]),
                     human_bytes(bytes[Tier::host]), human_bytes(bytes[Tier::nvme]));
}

// Returns what one rank of the Program gets of the machine in `file`. A Program does not say how
// many threads update on the host, so the default of `plan` is assumed. Throws Error(bad_input) if
// the Program is not for that machine.
Machine machine_of(Program const& program, std::string const& file) {
  auto const machine = machine_of_a_rank(load_machine(file), program.ranks, std::nullopt);
  if (program.unified != machine.is_unified())
    throw Error(Status::bad_input,
                fmt::format("{}: memory.device: {}", file,
                            program.unified ? "there is one, and the Program is for cores"
                                            : "there is none, and the Program is for a device"));
  if (!program.unified && program.arithmetic.isa != machine.target)
    throw Error(Status::bad_input, fmt::format("{}: target: {}, and the Program is for {}", file,
                                               machine.target, program.arithmetic.isa));
  bool const bf16 = program.arithmetic.precision == Precision::bf16;
  require_rates(machine, {bf16, program.peak_bytes[Tier::nvme] > 0, program.ranks}, file);
  return machine;
}

std::string priced(Program const& program, std::string const& file) {
  auto const machine = machine_of(program, file);
  auto const simulation = simulate(program, machine);
  auto const ranks = machine.node_ranks;
  TierBytes there{};
  there[Tier::device] = machine.is_unified() ? machine.host_bytes / ranks : machine.device_bytes;
  there[Tier::host] = machine.host_bytes / ranks;
  there[Tier::nvme] = machine.nvme_bytes / ranks;
  return fmt::format("  a rank there  {}\n  time there    {} a step\n", tiers_text(there),
                     human_duration(simulation.step_s)) +
         peaks_text(program) +
         time_text(program, simulation, shares(program, critical_path(program, simulation)));
}

// Describes a Program. Throws Error(damaged) if its proof does not hold, as after it was edited.
std::string describe_program(std::string const& path, std::string const& machine) {
  auto const program = program_from_json(read_input(path, kMostProgramBytes), path);
  if (auto const violation = verify(program))
    throw Error(Status::damaged, fmt::format("{}: {}", path, violation->why));
  auto const text = fmt::format(
      "program {}\n"
      "  a step        {} on {}; {} on {}\n"
      "  peak          {}\n"
      "  proof         holds: no timing changes what it computes\n",
      path, count(std::ssize(program.items), "item"), count(std::ssize(program.buffers), "buffer"),
      program.micro_batches == 1 ? "one micro-batch"
                                 : fmt::format("{} micro-batches", program.micro_batches),
      count(program.ranks, "rank"), tiers_text(program.peak_bytes));
  return text + (machine.empty() ? peaks_text(program) : priced(program, machine));
}

bool is_program(std::filesystem::path const& path) {
  return path.extension() == ".json" && !std::filesystem::is_directory(path) &&
         !is_safetensors(path);
}

}  // namespace

Status run_inspect(std::string const& path, std::string const& machine) {
  if (is_program(path)) {
    print_result(describe_program(path, machine));
    return Status::done;
  }
  if (!machine.empty())
    throw Error(Status::bad_input,
                fmt::format("--machine: {} is no Program, which `spillway plan --items --json` "
                            "prints; nothing else takes time on a machine",
                            path));
  if (is_run_directory(path)) {
    print_result(describe_run(read_run(path)));
    return Status::done;
  }
  if (auto const runs = read_runs(path); !runs.empty()) {
    print_result(runs_table(runs));
    return Status::done;
  }
  bool const is_plan = std::filesystem::path(path).extension() == ".yaml";
  print_result(is_plan ? describe_plan(path) : describe(path));
  return Status::done;
}

}  // namespace spillway
