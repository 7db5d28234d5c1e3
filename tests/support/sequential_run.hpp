// A SequentialRun is the simplest executor: every tensor has its own memory, and the ops of a phase
// run one after the other in the graph's order. Tests compare the engine with it, because it needs
// no Program. If there is a KernelDevice, its kernels run instead of the host's, on copies of their
// tensors.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kernels/exec.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::test {

// A step has one micro-batch, so that ops overwrite gradients and the loss and do not add to them.
// All memory starts as NaN patterns except the moments, which start as zeros.
class SequentialRun {
 public:
  enum class Side : bool { kernel, serial };  // whether Kernel::bind or Kernel::serial is used

  SequentialRun(Graph graph, Side side);
  SequentialRun(SequentialRun const&) = delete;  // the launches may refer to m_graph
  SequentialRun& operator=(SequentialRun const&) = delete;

  Graph const& graph() const { return m_graph; }
  // Runs the ops of a phase, except elided ones, and returns when they have ended.
  void run(Phase phase);
  // Runs the ops of one kind, except elided ones, and returns when they have ended. Between the ops
  // square_norm and adamw, the caller must write the control words, as a commit would.
  void run(OpKind kind);

  template <class T>
  std::span<T> data(TensorId id) {
    auto const& bytes = m_memory[static_cast<std::size_t>(id)];
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // values() reads the elements of a contiguous view as doubles. set() writes them, rounded to the
  // tensor's type; for a parameter that has a remainder, it also writes the remainder.
  std::vector<double> values(View const& view);
  void set(View const& view, std::span<double const> values);
  // Does so for the elements of a parameter, which it quantizes if the graph does.
  void set(Parameter const& parameter, std::span<double const> values);

 private:
  using Bytes = Kokkos::View<std::byte*, Kokkos::SharedSpace>;

  Graph m_graph;
  KernelDevice const* const m_device;
  std::unique_ptr<Exec const> m_exec = host::make_exec(nullptr);
  std::vector<Bytes> m_memory;      // the bytes of each tensor
  std::vector<Bytes> m_workspaces;  // the workspace of each op
  std::vector<Launch> m_launches;
  std::vector<std::vector<void*>> m_operands;

  void set_kernels_of_device();
  void bind(Op const& op, Side side);
  void run_if(std::function<bool(Op const&)> const& chosen);
  void run_on_device(std::vector<std::size_t> const& numbers);
  std::vector<void*> operands_in(DeviceCopies const& copies, Op const& op) const;
  std::int64_t first_byte(View const& view) const;
  std::byte* element(View const& view, std::int64_t i);
};

}  // namespace spillway::test
