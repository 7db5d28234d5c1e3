// A Machine says how fast one machine is, as one rank of a run gets it. lib/profile measures these
// numbers, or a file gives them. A rate of 0 is not known, and what needs it takes no time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

using Numbers = std::map<std::string, double, std::less<>>;
double number_or(Numbers const& numbers, std::string const& key, double fallback);

struct Machine {
  // Large matrix products reach these rates on all threads of the compute lane.
  double matmul_gflops_bf16 = 0, matmul_gflops_f32 = 0;
  double memory_gbps = 0;                          // of main memory or device memory
  double nvme_write_gbps = 0, nvme_read_gbps = 0;  // while the other is idle
  double network_gbps = 0;                         // what a rank sends to other nodes
  double item_overhead_s = 0;                      // to begin and end an item

  double nvme_both_gbps = 0;          // reading and writing at the same time, in sum
  double h2d_gbps = 0, d2h_gbps = 0;  // between device and host; on CPUs: copies by one core
  double cores = 0;                   // of the rank, shared by all lanes
  double compute_cores = 0;           // those of `cores` that the compute lane keeps busy
  double nvme_core_s_per_gb = 0;      // a core's time to move and check a GB of spilled bytes
  double node_gbps = 0;               // what a rank sends to others of its node
  double host_cores = 0;              // threads of the host lane that reach its rates; 0: one

  // Main memory and drives belong to a node, whose ranks share them.
  std::int64_t device_bytes = 0, host_bytes = 0, nvme_bytes = 0;
  std::int64_t node_ranks = 1;
  std::int64_t nvme_endurance_bytes = 600'000'000'000'000;  // may be written in a drive's life

  // On a CPU node main memory serves as device memory.
  bool is_unified() const { return device_bytes == 0; }
  std::int64_t host_threads() const;

  // Single ops took these seconds. Their keys are those of cost_key, with "host " before them for
  // the host lane. They are preferred to all rates.
  Numbers op_s = {};
  // Other ops reach these rates, by kind ("adamw", "host adamw"): GFLOP/s where the kind counts
  // flops, else GB/s of traffic. They are preferred to the rates above.
  Numbers kind_giga_per_s = {};
};

// A table lists a machine's rates and costs, except those of ops: machine files have these keys,
// and ranks tell each other these numbers.
struct MachineField {
  std::string_view key;  // in a machine file
  double Machine::*at;
  bool more_is_better;  // true: a rate; false: a cost
  std::string_view doc;
};
std::span<MachineField const> machine_fields();

// Adapts a machine that is described for `node_ranks` to a run with `ranks` on each node: the fewer
// they are, the more threads of the host lane each of them gets.
Machine shared_by(Machine machine, std::int64_t ranks);

// Adapts the machine to a host lane of `asked` threads. If nothing is asked, they are as many as
// the rates assume, or one where memory is unified, since there the cores are busy computing. Fewer
// threads than assumed reach that part of the rates; more threads bring nothing.
Machine with_host_threads(Machine machine, std::optional<std::int64_t> asked);

// Returns the rate at which each of `ranks` sends while all exchange equal parts with all, on its
// node and on others; one thread sends both. Where one of the two rates is not known, the other
// stands for it. 0: neither is known.
double exchange_gbps(Machine const& machine, std::int64_t ranks);

// Takes the lowest known value of every rate and the highest of every cost and time. Ops and kinds
// that some machine does not know (or knows as 0) are left out.
Machine slowest(std::span<Machine const> machines);

// Takes over the rates, costs and ops that `newer` knows.
void learn(Machine& machine, Machine const& newer);

}  // namespace spillway
