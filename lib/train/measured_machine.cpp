#include "train/measured_machine.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "comm/on_all_ranks.hpp"
#include "plan/passes.hpp"
#include "plan/solve.hpp"
#include "profile/machine_probe.hpp"
#include "profile/op_times.hpp"

namespace spillway {
namespace {

// Every op that a plan may launch: those that collect over micro-batches and ranks among them.
Program training_ops(Config const& config, std::int64_t vocab, Choices const& choices,
                     std::int64_t ranks) {
  auto const graph = training_graph(config, vocab, make_arithmetic(config, choices, ranks));
  auto const micro_batches = div_ceil(config.batch.sequences, choices.micro * ranks);
  auto const plan = make_plan(graph, {}, BlockPolicy::keep);
  return schedule(graph, plan, Purpose::train, micro_batches, ranks);
}

std::vector<double> numbers(Machine const& machine) {
  std::vector<double> result;
  for (auto const& field : machine_fields()) result.push_back(machine.*field.at);
  for (auto const* map : {&machine.op_s, &machine.kind_giga_per_s})
    for (auto const& [key, value] : *map) result.push_back(value);
  return result;
}

// The same Machine with other numbers.
Machine with_numbers(Machine machine, std::span<double const> values) {
  auto value = values.begin();
  for (auto const& field : machine_fields()) machine.*field.at = *value++;
  for (auto* map : {&machine.op_s, &machine.kind_giga_per_s})
    for (auto& [key, number] : *map) number = *value++;
  return machine;
}

Machine slowest_of_ranks(Machine const& mine, Comm& comm) {
  auto const own = numbers(mine);
  std::vector<double> all(own.size() * static_cast<std::size_t>(comm.size()));
  comm.all_gather_bytes(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<Machine> machines;
  for (std::size_t at = 0; at < all.size(); at += own.size())
    machines.push_back(with_numbers(mine, std::span(all).subspan(at, own.size())));
  return slowest(machines);
}

}  // namespace

Machine measured_machine(Config const& config, std::int64_t vocab, Choices const& choices,
                         std::int64_t cores, std::int64_t memory_bytes, Exec const& exec,
                         Comm& comm) {
  Machine machine;
  on_all_ranks(comm, [&] {
    machine = probe_machine(exec, config.precision == Precision::bf16);
    machine.cores = static_cast<double>(cores);
    machine.compute_cores = std::min(machine.compute_cores, machine.cores);
  });
  comm.agree(0);  // ranks that share a drive measure it together
  on_all_ranks(comm, [&] {
    auto const& spill_directory = config.memory.nvme_path;
    if (!spill_directory.empty()) probe_storage(machine, spill_directory, config.spill.checksum);
    measure_ops(machine, training_ops(config, vocab, choices, comm.size()), exec, memory_bytes);
  });
  return slowest_of_ranks(machine, comm);
}

}  // namespace spillway
