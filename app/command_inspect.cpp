#include <fmt/core.h>

#include <algorithm>
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
#include "plan/data/machine_file.hpp"
#include "plan/explain/explain.hpp"
#include "plan/listing/listing.hpp"
#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {
namespace {

// Writes one line for neighbours that are alike. The last word holds for all that follow as well.
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
  return text;
}

constexpr std::int64_t kMostProgramBytes = std::int64_t{1} << 30;

std::string priced(Program const& program, std::string const& machine) {
  auto const there = load_machine(machine);
  auto const simulation =
      simulate(program, shared_by(there, std::min(program.ranks, there.node_ranks)));
  return fmt::format("  time          {} a step on {}\n\n", human_duration(simulation.step_s),
                     machine) +
         peaks_text(program) +
         time_text(program, simulation, shares(program, critical_path(program, simulation)));
}

// A Program that its proof does not hold for is no file of this program's, or a damaged one.
std::string describe_program(std::string const& path, std::string const& machine) {
  auto const program = program_from_json(read_input(path, kMostProgramBytes), path);
  if (auto const violation = verify(program))
    throw Error(Status::damaged, fmt::format("{}: {}", path, violation->why));
  auto const& peak = program.peak_bytes;
  auto const text = fmt::format(
      "program {}\n"
      "  a step        {} items on {} buffers, {} micro-batches on each of {} ranks\n"
      "  peak          device {}, host {}, nvme {}\n"
      "  proof         holds: whatever its timing, it computes what its items compute one by one\n",
      path, program.items.size(), program.buffers.size(), program.micro_batches, program.ranks,
      human_bytes(peak[Tier::device]), human_bytes(peak[Tier::host]),
      human_bytes(peak[Tier::nvme]));
  return text + (machine.empty() ? "\n" + peaks_text(program) : priced(program, machine));
}

}  // namespace

Status run_inspect(std::string const& path, std::string const& machine) {
  auto const extension = std::filesystem::path(path).extension();
  if (extension == ".json" && !is_safetensors(path)) {
    print_result(describe_program(path, machine));
    return Status::done;
  }
  if (!machine.empty())
    throw Error(Status::bad_input,
                fmt::format("--machine: {} is no Program, which `spillway plan --items --json` "
                            "prints; nothing else takes time on a machine",
                            path));
  print_result(extension == ".yaml" ? describe_plan(path) : describe(path));
  return Status::done;
}

}  // namespace spillway
