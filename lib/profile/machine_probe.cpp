#include "profile/machine_probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "base/math.hpp"
#include "base/pages.hpp"
#include "base/steady_clock.hpp"
#include "io/file/file.hpp"
#include "io/spill/spill_file.hpp"
#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway {
namespace {

constexpr double kPatience_s = 0.1;  // per number
constexpr std::int64_t kMatrixRows = 1024;
constexpr std::int64_t kVectorElements = std::int64_t{4} << 20;  // 3 x 16 MiB: beyond most caches
constexpr std::size_t kBytes = std::size_t{48} << 20;
constexpr std::int64_t kStorageBytes = std::int64_t{32} << 20, kLeastStorageBytes = 1 << 20;

// The shortest of the runs that fit into the patience, after a first one that sets things up.
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

// One op on three tensors of equal shape, the last one its output, bound as the engine would.
class LoneOp {
 public:
  LoneOp(OpKind kind, DType dtype, Shape const& shape, Exec const& exec, std::byte* memory)
      : m_exec(exec) {
    m_op.kind = kind;
    for (TensorId id = 0; id < 3; ++id) {
      Tensor tensor;
      tensor.id = id;
      tensor.dtype = dtype;
      tensor.shape = shape;
      m_tensors.push_back(tensor);
      m_operands.push_back(memory + id * tensor.bytes());
      (id < 2 ? m_op.inputs : m_op.outputs).push_back(whole(tensor));
    }
    m_arithmetic.threads = exec.space().concurrency();
    KernelContext const context{m_tensors, {}, m_arithmetic};
    m_op.workspace_bytes = workspace_bytes(context, m_op);
    m_workspace = Pages(static_cast<std::size_t>(m_op.workspace_bytes));
    if (m_op.workspace_bytes > 0) m_operands.push_back(m_workspace.data());
    m_launch = kernel(kind).bind(context, m_op);
  }

  void operator()() const {
    m_launch(m_exec, m_operands.data());
    m_exec.fence();
  }
  double traffic() const { return static_cast<double>(traffic_bytes(m_op, m_tensors)); }

 private:
  Exec const& m_exec;
  Op m_op;
  std::vector<Tensor> m_tensors;
  Pages m_workspace;
  std::vector<void*> m_operands;
  Arithmetic m_arithmetic;
  Launch m_launch;
};

double thread_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The lower half of a spill file and the upper one, each with its memory.
class StorageBench {
 public:
  StorageBench(std::filesystem::path const& directory, std::int64_t half_bytes, bool checksums)
      : m_half_bytes(half_bytes),
        m_memory(2 * static_cast<std::size_t>(half_bytes)),
        m_file(directory, 2 * half_bytes, {.checksums = checksums, .spare_bytes = 0}) {}

  // GB/s of moving both halves at once; 0: storage failed. The first time finds blocks that were
  // never written, over which file systems take longer.
  double gbps(Direction lower, Direction upper) {
    bool moved = true;
    double const s = best_s([&] { moved = moved && move(lower, upper); });
    return moved ? 2 * static_cast<double>(m_half_bytes) / s * 1e-9 : 0;
  }
  // What a GB has cost this thread so far.
  double core_s_per_gb() const { return m_moved_gb > 0 ? m_cpu_s / m_moved_gb : 0; }

 private:
  bool move(Direction lower, Direction upper) {
    double const before_s = thread_cpu_s();
    auto const half = static_cast<std::size_t>(m_half_bytes);
    m_file.begin({lower, m_memory.all().first(half), 0, 0});
    m_file.begin({upper, m_memory.all().subspan(half), m_half_bytes, 1});
    bool sound = true;
    while (m_file.under_way() > 0) {
      auto const done = m_file.wait(SpillFile::kForever_s);
      sound = sound && (!done || done->result == IoResult::ok);
    }
    m_cpu_s += thread_cpu_s() - before_s;
    m_moved_gb += 2 * static_cast<double>(m_half_bytes) * 1e-9;
    return sound;
  }

  std::int64_t m_half_bytes;
  Pages m_memory;
  SpillFile m_file;
  double m_cpu_s = 0, m_moved_gb = 0;
};

// What both directions come to while both are under way, from the mean rate of moving as much each
// way: the slower one goes on alone when the faster one is done. At least the slower alone, at most
// the sum.
double overlapping_gbps(double read_gbps, double write_gbps, double mean_gbps) {
  if (read_gbps <= 0 || write_gbps <= 0 || mean_gbps <= 0) return 0;
  double const fast_s = 1 / std::max(read_gbps, write_gbps);  // for a GB
  double const slow_s = 1 / std::min(read_gbps, write_gbps);
  double const together_s = 2 / mean_gbps - (slow_s - fast_s);
  double const shares = together_s > 0 ? std::clamp(2 * fast_s / together_s, 1.0, 2.0) : 2;
  return shares / 2 * (read_gbps + write_gbps);
}

void measure_storage(Machine& machine, std::filesystem::path const& directory, std::int64_t size,
                     bool checksums) {
  StorageBench bench(directory, round_up(size / 2, kSpillAlignment), checksums);
  machine.nvme_write_gbps = bench.gbps(Direction::write, Direction::write);
  machine.nvme_read_gbps = bench.gbps(Direction::read, Direction::read);
  machine.nvme_both_gbps = overlapping_gbps(machine.nvme_read_gbps, machine.nvme_write_gbps,
                                            bench.gbps(Direction::write, Direction::read));
  machine.nvme_core_s_per_gb = bench.core_s_per_gb();
}

// One core copies main memory: what transfers between tiers of a CPU node are.
double copy_gbps(Pages const& memory) {
  auto const half = memory.all().size() / 2;
  double const s = best_s([&] { std::memcpy(memory.data(), memory.data() + half, half); });
  return static_cast<double>(half) / s * 1e-9;
}

}  // namespace

Machine probe_machine(Exec const& exec, bool bf16) {
  Pages const memory(kBytes);
  Machine machine;
  LoneOp const matmul(OpKind::matmul, bf16 ? DType::bf16 : DType::f32, {kMatrixRows, kMatrixRows},
                      exec, memory.data());
  auto const flops = 2 * std::pow(static_cast<double>(kMatrixRows), 3);
  (bf16 ? machine.matmul_gflops_bf16 : machine.matmul_gflops_f32) = flops / best_s(matmul) * 1e-9;
  LoneOp const add(OpKind::add, DType::f32, {kVectorElements}, exec, memory.data());
  machine.memory_gbps = add.traffic() / best_s(add) * 1e-9;
  machine.h2d_gbps = machine.d2h_gbps = copy_gbps(memory);
  machine.compute_cores = exec.space().concurrency();
  return machine;
}

void probe_storage(Machine& machine, std::filesystem::path const& directory, bool checksums) {
  auto const size = std::min(kStorageBytes, free_bytes(directory) / 2);
  try {
    if (size >= kLeastStorageBytes) measure_storage(machine, directory, size, checksums);
  } catch (Error const& error) {
    if (error.status() != Status::cannot_fit) throw;  // the plan will meet that, if it spills
  }
}

}  // namespace spillway
