#include "app/describe_program.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/units.hpp"
#include "monitor/run_directory.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/explain.hpp"
#include "plan/listing/listing.hpp"
#include "plan/listing/program_fields.hpp"
#include "plan/proof/verify.hpp"
#include "plan/time/simulate.hpp"
#include "run/find_target.hpp"

namespace spillway {
namespace {

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

// Returns what other JSON is, by the name of its file or by what is in it, as a part of a sentence,
// or "".
std::string words_of_json(nlohmann::json const& json, std::string const& path) {
  auto const by_name = words_of_run_file(std::filesystem::path(path).filename().string());
  if (!by_name.empty()) return by_name;
  if (json.is_array()) return "perhaps a trace, which ui.perfetto.dev shows";
  if (json.contains("predicted")) return "what `spillway plan --json` prints without --items";
  return "";
}

// Throws Error(bad_input) if a file is JSON that is no Program.
void require_program(std::string const& text, std::string const& path) {
  constexpr std::size_t beginning = 4096;
  if (text.substr(0, beginning).find(kFormKey) != text.npos) return;
  auto const json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || json.contains(kFormKey)) return;  // whoever reads it says more
  auto const what = words_of_json(json, path);
  throw Error(Status::bad_input,
              fmt::format("{}: {}{}{}", path, kNoProgram, what.empty() ? "" : ", but ", what));
}

}  // namespace

std::string describe_program(std::string const& path, std::string const& machine) {
  auto const text = read_input(path, kMostProgramBytes);
  require_program(text, path);
  auto const program = program_from_json(text, path);
  if (auto const violation = verify(program))
    throw Error(Status::damaged, fmt::format("{}: {}", path, violation->why));
  auto const head = fmt::format(
      "program {}\n"
      "  a step        {} on {}; {} on {}\n"
      "  peak          {}\n"
      "  proof         holds: no timing changes what it computes\n",
      path, count(std::ssize(program.items), "item"), count(std::ssize(program.buffers), "buffer"),
      program.micro_batches == 1 ? "one micro-batch"
                                 : fmt::format("{} micro-batches", program.micro_batches),
      count(program.ranks, "rank"), tiers_text(program.peak_bytes));
  return head + (machine.empty() ? peaks_text(program) : priced(program, machine));
}

}  // namespace spillway
