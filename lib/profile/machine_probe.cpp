#include "profile/machine_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "io/file/file.hpp"
#include "kernels/exec.hpp"
#include "profile/lone_op.hpp"
#include "profile/storage_bench.hpp"

namespace spillway {
namespace {

constexpr double kPatience_s = 0.1;  // for each number
constexpr std::int64_t kMatrixRows = 1024;
constexpr std::int64_t kVectorElements = std::int64_t{4} << 20;  // 3 x 16 MiB: beyond most caches
constexpr std::size_t kBytes = std::size_t{48} << 20;
constexpr std::int64_t kStorageBytes = std::int64_t{1} << 30;
constexpr double kStoragePatience_s = 0.7;  // for all numbers of storage together

// Runs once to set things up, then returns the shortest run that began within kPatience_s.
template <class Run>
double best_s(Run const& run) {
  run();
  double best = INFINITY;
  for (auto const start = SteadyClock::now(); seconds_since(start) < kPatience_s;) {
    auto const before = SteadyClock::now();
    run();
    best = std::min(best, seconds_since(before));
  }
  return best;
}

// Call this while the cores are idle, as they are wherever the drive is the bottleneck.
void measure_storage(Machine& machine, StorageBench& bench) {
  using enum Direction;
  std::array<StorageBench::Moved, 3> moved;
  std::array<std::vector<Direction>, 3> const ways = {
      {std::vector{write}, std::vector{read}, std::vector{read, write}}};
  auto const start = SteadyClock::now();
  do {  // they take turns, so that a disturbance affects all of them
    for (std::size_t i = 0; i < ways.size(); ++i) {
      auto const now = bench.stream(ways[i], kPatience_s);
      moved[i].gb += now.gb;
      moved[i].s += now.s;
    }
  } while (seconds_since(start) < kStoragePatience_s);
  machine.nvme_write_gbps = moved[0].gbps();
  machine.nvme_read_gbps = moved[1].gbps();
  machine.nvme_both_gbps = std::min(moved[2].gbps(), moved[0].gbps() + moved[1].gbps());
  machine.nvme_core_s_per_gb = bench.core_s_per_gb();
}

// Measures how fast one core copies main memory: so transfers run between tiers of a CPU node.
double copy_gbps(Pages const& memory) {
  auto const half = memory.all().size() / 2;
  double const s = best_s([&] { std::memcpy(memory.data(), memory.data() + half, half); });
  return static_cast<double>(half) / s * 1e-9;
}

}  // namespace

Machine probe_machine(Exec const& exec, Arithmetic const& arithmetic) {
  bool const bf16 = arithmetic.precision == "bf16";
  Pages const memory(kBytes);
  Machine machine;
  LoneOp const matmul(OpKind::matmul, bf16 ? DType::bf16 : DType::f32, {kMatrixRows, kMatrixRows},
                      arithmetic, exec, memory.data());
  auto const flops = 2 * std::pow(static_cast<double>(kMatrixRows), 3);
  (bf16 ? machine.matmul_gflops_bf16 : machine.matmul_gflops_f32) = flops / best_s(matmul) * 1e-9;
  LoneOp const add(OpKind::add, DType::f32, {kVectorElements}, arithmetic, exec, memory.data());
  machine.memory_gbps = add.traffic() / best_s(add) * 1e-9;
  machine.h2d_gbps = machine.d2h_gbps = copy_gbps(memory);
  machine.compute_cores = exec.concurrency();
  return machine;
}

void probe_storage(Machine& machine, std::filesystem::path const& directory, bool checksums) {
  auto const size = std::min(kStorageBytes, free_bytes(directory) / 2);
  try {
    if (size < StorageBench::kLeastBytes) return;
    StorageBench bench(directory, size, checksums);
    measure_storage(machine, bench);
  } catch (Error const& error) {
    if (error.status() != Status::cannot_fit) throw;  // a plan that spills fails there itself
  }
}

}  // namespace spillway
