#include "plan/data/machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/math.hpp"

namespace spillway {

namespace {

constexpr MachineField kFields[] = {
    {"matmul_gflops.bf16", &Machine::matmul_gflops_bf16, true,
     "of large matrix products in bf16, on all threads of the compute lane"},
    {"matmul_gflops.fp32", &Machine::matmul_gflops_f32, true, "the same in fp32"},
    {"peak_gflops.bf16", &Machine::peak_gflops_bf16, true,
     "of one device, that its data sheet promises for dense products: `mfu` is a share of it, "
     "plans "
     "do not use it"},
    {"peak_gflops.fp32", &Machine::peak_gflops_f32, true,
     "the same in fp32, or in tf32 where products take that"},
    {"memory_gbps", &Machine::memory_gbps, true,
     "traffic of ops that compute little, in main or device memory"},
    {"links.h2d_gbps", &Machine::h2d_gbps, true,
     "from host to device memory, while as much goes back; on a CPU node: copies by one core"},
    {"links.d2h_gbps", &Machine::d2h_gbps, true, "and back"},
    {"links.node_gbps", &Machine::node_gbps, true,
     "what a rank sends to others of its node; unknown: as to those of other nodes"},
    {"links.network_gbps", &Machine::network_gbps, true,
     "what a rank sends to those of other nodes; unknown: as within its node"},
    {"nvme.write_gbps", &Machine::nvme_write_gbps, true, "of the spill file, alone"},
    {"nvme.read_gbps", &Machine::nvme_read_gbps, true, "alone"},
    {"nvme.both_gbps", &Machine::nvme_both_gbps, true,
     "reading and writing, in sum, while both are under way"},
    {"nvme.core_s_per_gb", &Machine::nvme_core_s_per_gb, false,
     "what a GB that is moved and checked costs a core"},
    {"cores.all", &Machine::cores, true,
     "that all lanes of a rank share; unknown: they share none"},
    {"cores.compute", &Machine::compute_cores, false,
     "of them, those that the compute lane keeps busy: all its threads, or one that launches "
     "beside a "
     "device; unknown: none"},
    {"cores.host", &Machine::host_cores, true,
     "threads of the host lane with which a rank reaches its rates (kinds); unknown: one"},
    {"item_overhead_s", &Machine::item_overhead_s, false, "to begin and end an item"},
};

void scale_host_rates(Machine& machine, double factor) {
  for (auto& [kind, rate] : machine.kind_giga_per_s)
    if (kind.starts_with("host ")) rate *= factor;
}

}  // namespace

double number_or(Numbers const& numbers, std::string const& key, double fallback) {
  auto const found = numbers.find(key);
  return found == numbers.end() ? fallback : found->second;
}

std::int64_t Machine::host_threads() const {
  return std::max<std::int64_t>(1, std::llround(host_cores));
}

std::span<MachineField const> machine_fields() {
  return kFields;
}

Machine shared_by(Machine machine, std::int64_t ranks) {
  auto const more = static_cast<double>(machine.node_ranks) / static_cast<double>(ranks);
  if (!machine.is_unified()) {
    scale_host_rates(machine, more);
    for (auto* rate : {&machine.nvme_write_gbps, &machine.nvme_read_gbps, &machine.nvme_both_gbps})
      *rate *= more;
    machine.host_cores = std::floor(machine.host_cores * more);
  }
  machine.node_ranks = ranks;
  return machine;
}

Machine with_host_threads(Machine machine, std::optional<std::int64_t> asked) {
  auto const assumed = machine.host_threads();
  auto const threads = asked.value_or(machine.is_unified() ? 1 : assumed);
  if (threads < assumed)
    scale_host_rates(machine, static_cast<double>(threads) / static_cast<double>(assumed));
  machine.host_cores = static_cast<double>(threads);
  return machine;
}

double exchange_gbps(Machine const& machine, RankRange const& group) {
  auto const& [near, far] = std::pair(machine.node_gbps, machine.network_gbps);
  double const node_gbps = near > 0 ? near : far, network_gbps = far > 0 ? far : near;
  auto const peers = static_cast<double>(group.count - 1);
  if (node_gbps == 0 || peers <= 0) return node_gbps;
  auto const of_node = std::min(group.count, div_ceil(machine.node_ranks, group.step));
  auto const on_node = static_cast<double>(of_node - 1) / peers;
  return 1 / (on_node / node_gbps + (1 - on_node) / network_gbps);
}

Machine slowest(std::span<Machine const> machines) {
  auto result = machines.front();
  for (Machine const& machine : machines) {
    for (MachineField const& field : kFields) {
      auto& value = result.*field.at;
      double const theirs = machine.*field.at;
      bool const known = value > 0 && theirs > 0;
      value = field.more_is_better && known ? std::min(value, theirs) : std::max(value, theirs);
    }
    for (auto& [key, s] : result.op_s) {
      auto const theirs = number_or(machine.op_s, key, 0);
      s = s > 0 && theirs > 0 ? std::max(s, theirs) : 0;
    }
    for (auto& [kind, rate] : result.kind_giga_per_s)
      rate = std::min(rate, number_or(machine.kind_giga_per_s, kind, 0));
  }
  // Values that come from different ranks may contradict each other, so some of them are lowered.
  result.compute_cores = std::min(result.compute_cores, result.cores);
  result.nvme_both_gbps =
      std::min(result.nvme_both_gbps, result.nvme_read_gbps + result.nvme_write_gbps);
  for (auto* numbers : {&result.op_s, &result.kind_giga_per_s})
    std::erase_if(*numbers, [](auto const& number) { return number.second == 0; });
  return result;
}

void learn(Machine& machine, Machine const& newer) {
  for (MachineField const& field : kFields)
    if (newer.*field.at > 0) machine.*field.at = newer.*field.at;
  for (auto const& [key, seconds] : newer.op_s) machine.op_s[key] = seconds;
}

}  // namespace spillway
