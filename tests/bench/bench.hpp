// One op on tensors of its own, bound once and launched again and again.
#pragma once

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/bf16.hpp"
#include "kernels/exec.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host_pool.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

Op make_op(OpKind kind, std::vector<View> inputs, std::vector<View> outputs,
           Attributes attributes = {});

class Bench {
 public:
  View tensor(DType dtype, Shape shape);
  // Made of `scale` times a number in [-1, 1], in a fixed pattern.
  void fill(View const& view, float scale);
  void fill_tokens(View const& view, std::int64_t vocab);
  void fill_control(View const& view);  // of a committed step

  // The elements of a new tensor, for loops that are no op.
  float* floats(std::int64_t n);

  // From here on ops run as the host lane runs them, on so many threads.
  void run_on_host_lane(int threads) { m_host_pool.emplace(threads); }

  // For compute-bound ops: always on the same bytes; reports FLOP/s.
  void run(benchmark::State& state, OpKind kind, std::vector<View> inputs,
           std::vector<View> outputs, Attributes attributes, double flops);
  // For memory-bound ops: on copies of the operands in turn, too many for any cache; reports GB/s
  // of `bytes`, those that one launch must move.
  void stream(benchmark::State& state, Op op, IdVector<Chunk> chunks, std::int64_t bytes);

 private:
  using Buffer = Kokkos::View<std::byte*, Kokkos::SharedSpace>;
  static Buffer zeros(std::int64_t bytes);
  static Buffer copy(Buffer const& from);
  Tensor const& tensor_of(View const& view) const {
    return m_tensors[static_cast<std::size_t>(view.tensor)];
  }
  std::vector<void*> pointers(Op const& op, IdVector<Buffer> const& buffers) const;
  // Launches on each of `operands` in turn; a workspace is added to each.
  void measure(benchmark::State& state, Op& op, IdVector<Chunk> const& chunks,
               std::vector<std::vector<void*>> operands);

  IdVector<Tensor> m_tensors;
  IdVector<Buffer> m_buffers;
  std::optional<HostPool> m_host_pool;
};

}  // namespace spillway
