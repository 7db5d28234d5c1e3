#include "plan/machine.hpp"

#include <algorithm>

namespace spillway {

namespace {

constexpr MachineField kFields[] = {
    {"matmul_gflops.bf16", &Machine::matmul_gflops_bf16, true,
     "of large matrix products in bf16, on all threads of the compute lane"},
    {"matmul_gflops.fp32", &Machine::matmul_gflops_f32, true, "the same in fp32"},
    {"memory_gbps", &Machine::memory_gbps, true,
     "traffic of ops that compute little, in main or device memory"},
    {"links.h2d_gbps", &Machine::h2d_gbps, true,
     "from host to device memory; on a CPU node: copies by one core"},
    {"links.d2h_gbps", &Machine::d2h_gbps, true, "and back"},
    {"links.network_gbps", &Machine::network_gbps, true, "between two ranks"},
    {"nvme.write_gbps", &Machine::nvme_write_gbps, true, "of the spill file, alone"},
    {"nvme.read_gbps", &Machine::nvme_read_gbps, true, "alone"},
    {"nvme.both_gbps", &Machine::nvme_both_gbps, true, "reading and writing at once, in sum"},
    {"nvme.core_s_per_gb", &Machine::nvme_core_s_per_gb, false,
     "what a GB that is moved and checked costs a core"},
    {"cores.all", &Machine::cores, true, "that all lanes of a rank share; 0: they share none"},
    {"cores.compute", &Machine::compute_cores, false,
     "of them, those that the compute lane keeps busy; 0: it is a device"},
    {"item_overhead_s", &Machine::item_overhead_s, false, "to begin and end an item"},
};

}  // namespace

std::span<MachineField const> machine_fields() {
  return kFields;
}

Machine shared_by(Machine machine, std::int64_t ranks) {
  auto const more = static_cast<double>(machine.node_ranks) / static_cast<double>(ranks);
  for (auto& [kind, rate] : machine.kind_giga_per_s) {
    if (!machine.is_unified() && kind.starts_with("host ")) rate *= more;
  }
  machine.node_ranks = ranks;
  return machine;
}

Machine slowest(std::span<Machine const> machines) {
  auto result = machines.front();
  for (Machine const& machine : machines) {
    for (MachineField const& field : kFields) {
      auto& value = result.*field.at;
      value = field.more_is_better ? std::min(value, machine.*field.at)
                                   : std::max(value, machine.*field.at);
    }
    for (auto const& [key, s] : machine.op_s) {
      auto& slowest_s = result.op_s[key];
      slowest_s = std::max(slowest_s, s);
    }
    for (auto const& [kind, rate] : machine.kind_giga_per_s) {
      auto const known = result.kind_giga_per_s.try_emplace(kind, rate).first;
      known->second = std::min(known->second, rate);
    }
  }
  return result;
}

}  // namespace spillway
