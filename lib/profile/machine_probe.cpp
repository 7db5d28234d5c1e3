#include "profile/machine_probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "base/cannot_start.hpp"
#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "profile/compute_lane.hpp"
#include "profile/link_bench.hpp"
#include "profile/lone_op.hpp"

namespace spillway {
namespace {

constexpr double kPatience_s = 0.1;  // how long each number is measured
constexpr std::int64_t kMatrixRows = 1024;
constexpr std::int64_t kVectorElements = std::int64_t{4} << 20;  // 3 x 16 MiB exceed most caches
constexpr std::size_t kBytes = std::size_t{48} << 20;
// A run on a device must take this long to be measured. To get there, operands may grow up to these
// sizes.
constexpr double kLongEnough_s = 5e-4;
constexpr std::int64_t kMostMatrixRows = 8192, kMostVectorElements = std::int64_t{64} << 20;
constexpr double kLead_s = 0.02;  // how long the drive is used before a measurement begins
constexpr std::int64_t kStorageBytes = std::int64_t{1} << 30;
constexpr double kStoragePatience_s = 0.7;  // how long all rates of storage together are measured

// Calls run_s() once to set things up, then again until kPatience_s are over. Returns the shortest
// time of the later calls. run_s() must return the seconds that it took.
template <class Run>
double best_s(Run const& run_s) {
  run_s();
  double best = INFINITY;
  for (auto const start = SteadyClock::now(); seconds_since(start) < kPatience_s;)
    best = std::min(best, run_s());
  return best;
}

// Measures the drive. This must be called while the cores are idle, as they are wherever the drive
// is the bottleneck.
void measure_storage(Machine& machine, StorageBench& bench) {
  using enum Direction;
  std::array<StorageBench::Moved, 3> moved;
  std::array<std::vector<Direction>, 3> const ways = {
      {std::vector{write}, std::vector{read}, std::vector{read, write}}};
  auto const start = SteadyClock::now();
  do {  // Reads, writes, and both at once take turns, so that a disturbance affects all.
    for (std::size_t i = 0; i < ways.size(); ++i) {
      auto const now = bench.stream(ways[i], kPatience_s);
      moved[i].gb += now.gb;
      moved[i].s += now.s;
    }
  } while (seconds_since(start) < kStoragePatience_s);
  set_drive_rates(machine, moved[0], moved[1], moved[2]);
  machine.nvme_core_s_per_gb = bench.core_s_per_gb();
}

// Measures how fast one core copies main memory, as transfers between tiers of a CPU node do.
double copy_gbps(Pages const& memory) {
  auto const half = memory.all().size() / 2;
  double const s = best_s([&] {
    auto const start = SteadyClock::now();
    std::memcpy(memory.data(), memory.data() + half, half);
    return seconds_since(start);
  });
  return static_cast<double>(half) / s * 1e-9;
}

// Lowers the rates of the link to `rates` where they are higher.
void set_links(Machine& machine, LinkRates const& rates) {
  auto const lowest = slower({machine.h2d_gbps, machine.d2h_gbps}, rates);
  machine.h2d_gbps = lowest.h2d_gbps;
  machine.d2h_gbps = lowest.d2h_gbps;
}

// Returns the rates of the link while the drive reads and writes.
LinkRates beside_drive(LinkBench& links, StorageBench& drive) {
  using enum Direction;
  auto const stream = [&] { drive.stream(std::array{read, write}, kPatience_s + kLead_s); };
  auto const busy = start_threads([&] { return std::async(std::launch::async, stream); });
  busy.wait_for(std::chrono::duration<double>(kLead_s));
  return links.both_ways(kPatience_s);
}

struct Measured {
  double giga_per_s, s;
};

// Returns the rate for the smallest size for which one run takes long enough to be measured. On a
// device, sizes double from `first` up to `most`. A host is slow enough for the first size.
template <class Rate>
double rate_on(Device const& device, std::int64_t first, std::int64_t most, Rate const& rate) {
  for (auto size = first;; size *= 2) {
    auto const [giga_per_s, s] = rate(size);
    if (!device.has_own_memory() || s > kLongEnough_s || size >= most) return giga_per_s;
  }
}

}  // namespace

Machine probe_machine(Compute const& compute, Arithmetic const& arithmetic) {
  bool const bf16 = arithmetic.precision == Precision::bf16;
  Machine machine;
  auto const products = [&](std::int64_t rows) -> Measured {
    LoneOp const matmul(OpKind::matmul, bf16 ? DType::bf16 : DType::f32, {rows, rows}, arithmetic,
                        compute);
    double const s = best_s(matmul);
    return {2 * std::pow(static_cast<double>(rows), 3) / s * 1e-9, s};
  };
  auto const sums = [&](std::int64_t elements) -> Measured {
    LoneOp const add(OpKind::add, DType::f32, {elements}, arithmetic, compute);
    double const s = best_s(add);
    return {add.traffic() / s * 1e-9, s};
  };
  auto& device = compute.device;
  (bf16 ? machine.matmul_gflops_bf16 : machine.matmul_gflops_f32) =
      rate_on(device, kMatrixRows, kMostMatrixRows, products);
  machine.memory_gbps = rate_on(device, kVectorElements, kMostVectorElements, sums);
  if (device.has_own_memory()) {
    set_links(machine, LinkBench(device).rates());
  } else {
    machine.h2d_gbps = machine.d2h_gbps = copy_gbps(Pages(kBytes, "memory for measurements"));
  }
  machine.compute_cores = compute_cores(compute);
  return machine;
}

void set_drive_rates(Machine& machine, StorageBench::Moved const& written,
                     StorageBench::Moved const& read, StorageBench::Moved const& both) {
  machine.nvme_write_gbps = written.gbps();
  machine.nvme_read_gbps = read.gbps();
  machine.nvme_both_gbps = std::min(both.gbps(), written.gbps() + read.gbps());
}

void set_drives(Machine& machine, std::int64_t drives) {
  machine.nvme_endurance_bytes *= drives;
  machine.nvme_drives = drives;
}

std::int64_t storage_probe_bytes(std::int64_t free_bytes) {
  return std::min(kStorageBytes, free_bytes / 2);
}

void probe_storage(Machine& machine, Directories const& directories, bool checksums,
                   Device& device) {
  std::optional<LinkBench> links;
  if (device.has_own_memory()) set_links(machine, links.emplace(device).rates());
  auto const size = storage_probe_bytes(spill_room_bytes(directories));
  if (size < StorageBench::kLeastBytes) return;
  auto memory = StorageBench::memory_for(size);  // not caught: without this memory no run fits
  try {
    StorageBench bench(std::move(memory), directories, size, checksums);
    measure_storage(machine, bench);
    if (links) set_links(machine, beside_drive(*links, bench));
  } catch (Error const& error) {
    if (error.status() != Status::cannot_fit) throw;  // a plan that spills will report it itself
  }
}

}  // namespace spillway
