// The simplest executor there can be: every tensor has memory of its own and the ops of a phase run
// one after the other in the graph's order. An oracle for the engine; knows no Program.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "kernels/exec.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/kokkos_environment.hpp"

namespace spillway::test {

// One micro-batch per step: gradients and the loss are overwritten, not added to. All memory starts
// as NaN patterns except the moments, which start as zeros.
class SequentialRun {
 public:
  enum class Side : bool { kernel, serial };  // Kernel::bind or Kernel::serial

  SequentialRun(Graph graph, Side side);
  SequentialRun(SequentialRun const&) = delete;  // the launches may refer to the graph
  SequentialRun& operator=(SequentialRun const&) = delete;

  Graph const& graph() const { return m_graph; }
  void run(Phase phase);  // returns when all is done
  void run(OpKind kind);  // of the update: a commit belongs between square_norm and adamw

  template <class T>
  std::span<T> data(TensorId id) {
    auto const& bytes = m_memory[static_cast<std::size_t>(id)];
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  // A contiguous view's elements as doubles; written, they are rounded to the tensor's type. With
  // bf16, a parameter's rounding goes to its remainder.
  std::vector<double> values(View const& view);
  void set(View const& view, std::span<double const> values);

 private:
  using Bytes = Kokkos::View<std::byte*, Kokkos::SharedSpace>;

  Graph m_graph;
  std::unique_ptr<Exec const> m_exec = host::make_exec(nullptr);
  std::vector<Bytes> m_memory;      // of every tensor
  std::vector<Bytes> m_workspaces;  // of every op
  std::vector<Launch> m_launches;
  std::vector<std::vector<void*>> m_operands;

  void bind(Op const& op, Side side);
  void run_if(std::function<bool(Op const&)> const& chosen);
  std::byte* element(View const& view, std::int64_t i);
};

}  // namespace spillway::test
