// A Machine says how fast one machine is for one rank of a run. lib/profile measures the numbers,
// or a file gives them. A rate of 0 is unknown; work that needs it is taken to last 0 s.
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
  // The compute lane, with all its threads, reaches these rates in large matrix products.
  double matmul_gflops_bf16 = 0, matmul_gflops_f32 = 0;
  double memory_gbps = 0;                          // bandwidth of main memory or device memory
  double nvme_write_gbps = 0, nvme_read_gbps = 0;  // each rate while the other one is not used
  double network_gbps = 0;                         // rate at which a rank sends to other nodes
  double item_overhead_s = 0;                      // time to begin and end an item

  double nvme_both_gbps = 0;          // sum of both rates while reading and writing at once
  double h2d_gbps = 0, d2h_gbps = 0;  // copies between device and host; on CPUs one core copies
  double cores = 0;                   // number of the rank's cores, which all lanes share
  double compute_cores = 0;           // how many of `cores` the compute lane keeps busy
  double nvme_core_s_per_gb = 0;      // seconds in which one core moves and checks a GB of spills
  double node_gbps = 0;               // rate at which a rank sends to other ranks of its node
  double host_cores = 0;              // number of host lane threads that reach its rates; 0 means 1

  // Device memory belongs to one rank. Ranks of a node share host memory and drives.
  std::int64_t device_bytes = 0, host_bytes = 0, nvme_bytes = 0;
  std::int64_t node_ranks = 1;
  std::int64_t nvme_endurance_bytes = 600'000'000'000'000;  // bytes until a drive is worn out

  // Says whether main memory serves as device memory, which it does on a CPU node.
  bool is_unified() const { return device_bytes == 0; }
  std::int64_t host_threads() const;

  // Holds the measured seconds of single ops. The keys come from cost_key, with "host " before them
  // for the host lane. Predictions prefer these times to all rates.
  Numbers op_s = {};
  // Holds the rates of other ops by kind, such as "adamw" or "host adamw": GFLOP/s if the kind
  // counts flops, otherwise GB/s of memory traffic. Predictions prefer them to the rates above.
  Numbers kind_giga_per_s = {};
};

// Describes one rate or cost of a Machine, except those of single ops. Machine files have these
// keys, and ranks send each other these numbers.
struct MachineField {
  std::string_view key;  // the key in a machine file
  double Machine::*at;
  bool more_is_better;  // true for a rate, false for a cost
  std::string_view doc;
};
std::span<MachineField const> machine_fields();

// Adapts a machine that is described for `node_ranks` ranks to a run with `ranks` ranks on each
// node. The fewer ranks share a node, the more host lane threads each of them gets.
Machine shared_by(Machine machine, std::int64_t ranks);

// Adapts the machine to a host lane of `asked` threads. If nothing is asked, there are as many
// threads as the rates assume, or one if memory is unified, because the cores are then busy
// computing. With fewer threads than assumed the rates fall in proportion; more threads do not
// raise them.
Machine with_host_threads(Machine machine, std::optional<std::int64_t> asked);

// Returns the GB/s that each of `ranks` ranks sends while all exchange equal parts with all others,
// on its node and on other nodes. One thread sends to both. If one of the two rates is unknown, the
// other one is used for both; if both are unknown, the result is 0.
double exchange_gbps(Machine const& machine, std::int64_t ranks);

// Takes the lowest known value of every rate and the highest value of every cost and time. An op or
// a kind of op is left out if its value is missing or 0 on any of the machines.
Machine slowest(std::span<Machine const> machines);

// Copies the rates, costs and op times that `newer` knows into `machine`.
void learn(Machine& machine, Machine const& newer);

}  // namespace spillway
