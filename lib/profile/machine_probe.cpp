#include "profile/machine_probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
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

void measure_storage(Machine& machine, std::filesystem::path const& directory, std::int64_t size) {
  Pages const bytes(static_cast<std::size_t>(size));
  SpillFile file(directory, size, {.checksums = false, .spare_bytes = 0});
  // The first write finds blocks that were never written: file systems take longer over those.
  auto const rate = [&](auto const& move) {
    bool moved = true;
    double const s = best_s([&] { moved = moved && move() == IoResult::ok; });
    return moved ? static_cast<double>(size) / s * 1e-9 : 0;
  };
  machine.nvme_write_gbps = rate([&] { return file.write(0, bytes.all()); });
  machine.nvme_read_gbps = rate([&] { return file.read(0, bytes.all()); });
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
  return machine;
}

void probe_storage(Machine& machine, std::filesystem::path const& directory) {
  auto const size = std::min(kStorageBytes, free_bytes(directory) / 2);
  try {
    if (size >= kLeastStorageBytes) measure_storage(machine, directory, size);
  } catch (Error const& error) {
    if (error.status() != Status::cannot_fit) throw;  // the plan will meet that, if it spills
  }
}

Machine slowest(std::span<Machine const> machines) {
  constexpr double Machine::*rates[] = {&Machine::matmul_gflops_bf16, &Machine::matmul_gflops_f32,
                                        &Machine::memory_gbps,        &Machine::nvme_write_gbps,
                                        &Machine::nvme_read_gbps,     &Machine::network_gbps};
  auto result = machines.front();
  for (auto const& machine : machines) {
    for (auto const rate : rates) result.*rate = std::min(result.*rate, machine.*rate);
    result.item_overhead_s = std::max(result.item_overhead_s, machine.item_overhead_s);
  }
  return result;
}

}  // namespace spillway
