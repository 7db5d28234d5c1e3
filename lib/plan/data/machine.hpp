// A Machine says how fast one machine is for one rank of a run. lib/profile measures the numbers,
// or a file gives them. A rate of 0 is unknown; work that needs such a rate is taken to last 0 s.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/rank_range.hpp"

namespace spillway {

using Numbers = std::map<std::string, double, std::less<>>;
double number_or(Numbers const& numbers, std::string const& key, double fallback);

struct Machine {
  // These are the rates of large matrix products on all threads of the compute lane.
  double matmul_gflops_bf16 = 0, matmul_gflops_f32 = 0;
  double memory_gbps = 0;                          // Memory is read and written at this rate.
  double nvme_write_gbps = 0, nvme_read_gbps = 0;  // the rates at which drives only write or read
  double network_gbps = 0;                         // the rate at which a rank sends to other nodes
  double item_overhead_s = 0;                      // An item takes this long to begin and to end.

  double nvme_both_gbps = 0;          // the sum of both rates when a drive reads and writes at once
  double h2d_gbps = 0, d2h_gbps = 0;  // Bytes are copied to and from the device at these rates.
  double cores = 0;                   // the number of cores that all lanes of the rank share
  // How many of them the compute lane keeps busy: those of all its threads or, beside a device with
  // memory of its own, the one of the thread that launches.
  double compute_cores = 0;
  double nvme_core_s_per_gb = 0;  // how long a core takes to move and check a spilled GB
  double node_gbps = 0;           // the rate at which a rank sends to other ranks of its node
  double host_cores = 0;          // how many threads the host lane's rates assume; 0 means one
  // What a data sheet promises of the device. Plans do not use it.
  double peak_gflops_bf16 = 0, peak_gflops_f32 = 0;

  // The compute lane's kernels are made for this target, which decides their workspaces
  // (graph/target.hpp).
  std::string target = "host";
  // A rank has device_bytes for itself. All ranks of a node share host_bytes and nvme_bytes.
  std::int64_t device_bytes = 0, host_bytes = 0, nvme_bytes = 0;
  std::int64_t node_ranks = 1;
  std::int64_t nvme_endurance_bytes = 600'000'000'000'000;  // bytes that wear the drives out
  std::int64_t nvme_drives = 1;  // the number of drives of a node, which are taken to be alike
  // How much a rating takes each written byte to wear the cells, how much a byte of large writes
  // does, and how many more writes cells last that keep their data for a day and not for years. By
  // default these are the factors of SSDTrain (arXiv:2408.10013).
  double nvme_rated_amplification = 2.5, nvme_write_amplification = 1, nvme_retention_gain = 86;
  // These say what one rank draws and costs with its share of the node; 0 means unknown. Plans do
  // not use them.
  double power_w = 0, price_per_hour = 0;

  // Returns whether main memory serves as device memory, which it does on a CPU node.
  bool is_unified() const { return device_bytes == 0; }
  std::int64_t host_threads() const;

  // This map holds the measured seconds of single ops. Its keys come from cost_key, with "host "
  // before them for ops on the host lane. Predictions prefer these times to all rates.
  Numbers op_s = {};
  // This map holds the rates of kinds of op, such as "adamw" or "host adamw", or "attention 64" for
  // heads of 64 columns: GFLOP/s if the kind counts flops, otherwise GB/s of memory traffic. They
  // are used for ops that are not in `op_s`.
  Numbers kind_giga_per_s = {};
};

// A MachineField describes one rate or cost of a Machine, but none of a single op or kind of op.
// Machine files have a key for each MachineField, and ranks send each other the values.
struct MachineField {
  std::string_view key;  // the key that stands for the number in a machine file
  double Machine::*at;
  bool more_is_better;  // This is true for a rate and false for a cost.
  std::string_view doc;
};
std::span<MachineField const> machine_fields();

// Adapts a machine that is described for `node_ranks` ranks on a node to a run with `ranks` ranks
// on each node. Beside a device, a rank gets more threads of the host lane and more of the drives
// if fewer ranks share a node.
Machine shared_by(Machine machine, std::int64_t ranks);

// Returns the machine with a host lane of `asked` threads. If nothing is asked, there are as many
// threads as the rates assume, or one if memory is unified, because the cores are then busy
// computing. With fewer threads than assumed, the rates of the lane fall in proportion; more
// threads do not raise them.
Machine with_host_threads(Machine machine, std::optional<std::int64_t> asked);

// Returns the GB/s that each rank of `group` sends while its ranks exchange equal parts. Nodes have
// ranks with consecutive numbers, and the group begins on the first of its node. One thread sends
// to ranks on the same node and on other nodes. If the rate within a node or between nodes is
// unknown, the other rate is used for both; if both are unknown, the result is 0.
double exchange_gbps(Machine const& machine, RankRange const& group);

// Returns a Machine with the lowest known value of every rate and the highest value of every cost
// and time. An op or kind of op is left out if its value is missing or 0 on any of the machines.
Machine slowest(std::span<Machine const> machines);

// Copies the rates, costs and op times that `newer` knows into `machine`.
void learn(Machine& machine, Machine const& newer);

}  // namespace spillway
