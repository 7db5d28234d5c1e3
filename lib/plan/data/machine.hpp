// Numbers of one machine, as one rank of a run gets them. Measured (lib/profile) or read from a
// file; never constants in the solver. A rate of 0 is not known, and what needs it takes no time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spillway {

struct Machine {
  // Of large ops, on all threads of the compute lane.
  double matmul_gflops_bf16 = 0, matmul_gflops_f32 = 0;
  double memory_gbps = 0;                          // DRAM or device memory
  double nvme_write_gbps = 0, nvme_read_gbps = 0;  // each alone
  double network_gbps = 0;                         // what a rank sends to those of other nodes
  double item_overhead_s = 0;

  double nvme_both_gbps = 0;          // reading and writing at the same time, in sum
  double h2d_gbps = 0, d2h_gbps = 0;  // between device and host; on CPUs: copies by one core
  double cores = 0;                   // that all lanes share
  double compute_cores = 0;           // of them, what the compute lane keeps busy
  double nvme_core_s_per_gb = 0;      // of a core, to move and check a GB of spilled bytes
  double node_gbps = 0;  // what a rank sends to others of its node; where one of these links is not
                         // known, it is as the other
  double host_cores = 0;  // threads of the host lane, with which its rates are reached; unknown: 1

  // What there is. Main memory and drives are a node's, and its ranks share them.
  std::int64_t device_bytes = 0, host_bytes = 0, nvme_bytes = 0;
  std::int64_t node_ranks = 1;
  std::int64_t nvme_endurance_bytes = 600'000'000'000'000;  // that may be written in a drive's life

  // No memory of the device's own: it is main memory, as on a CPU node.
  bool is_unified() const { return device_bytes == 0; }
  std::int64_t host_threads() const;

  // Seconds of ops, each alone, by cost_key; on the host lane "host " comes before it. What is
  // measured wins over the rates.
  std::map<std::string, double, std::less<>> op_s = {};
  // For ops that are not in `op_s`, by kind ("adamw", "host adamw"): GFLOP/s of kinds that count
  // flops, GB/s of traffic of the others. Wins over the rates above.
  std::map<std::string, double, std::less<>> kind_giga_per_s = {};
};

// A machine's rates and costs, those of ops excepted: files are read and written by this table, and
// ranks exchange the numbers by it.
struct MachineField {
  std::string_view key;  // in a machine file
  double Machine::*at;
  bool more_is_better;  // a rate; else a cost
  std::string_view doc;
};
std::span<MachineField const> machine_fields();

// What ranks of a run get where `ranks` of them share a node that is described for `node_ranks`:
// the fewer, the more threads has the host lane of each, and the faster it is.
Machine shared_by(Machine machine, std::int64_t ranks);

// The same machine where the host lane has as many threads as was asked for; else as many as its
// rates assume, and one where all memory is unified, as they are the cores that compute. With fewer
// threads than assumed each gets its part of the rates; more bring no more.
Machine with_host_threads(Machine machine, std::optional<std::int64_t> asked);

// What each of `ranks` sends while all exchange equal parts with all, those on its node among them:
// one thread of it moves the bytes of either kind. 0: not known.
double exchange_gbps(Machine const& machine, std::int64_t ranks);

// Of every rate the lowest that is known, of every cost and time the highest; ops and kinds that
// some machine does not know (or knows as 0) are left out.
Machine slowest(std::span<Machine const> machines);

// Takes over the rates, costs and ops that `newer` knows.
void learn(Machine& machine, Machine const& newer);

}  // namespace spillway
