// Makes and launches the kernels of attention.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "base/bf16.hpp"
#include "base/check.hpp"
#include "base/error.hpp"
#include "graph/operands.hpp"
#include "kernels/cuda/attention_fragment.cuh"
#include "kernels/cuda/attention_shape.cuh"
#include "kernels/cuda/stream.hpp"
#include "kernels/cuda_attention_workspace.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/attention_shape.hpp"
#include "kernels/pointers.hpp"

namespace spillway::cuda {

// Says how a block of threads cuts attention whose heads are padded to kWidth elements. It has
// kResident rows for good, kWarpRows a warp, and kStreamed rows at a time of the other kind.
template <class T, int kWidth, int kStreamedRows, int kStagesOfTiles>
struct BlockSizes {
  static constexpr int kResident =
      static_cast<int>(attention_query_rows(sizeof(T) == 2 ? DType::bf16 : DType::f32, kWidth));
  static constexpr int kStreamed = kStreamedRows, kStages = kStagesOfTiles;
  static constexpr int kThreads = 32 * (kResident / kWarpRows);
  static constexpr int kStripBytes = kResident * strip_stride(kStreamed) * int{sizeof(float)};
};

// A Pass is a kernel and what its launch needs.
template <class Operands>
struct Pass {
  void (*kernel)(Operands);
  std::int64_t blocks;
  int threads, shared_bytes;
  int most_shared_bytes = shared_bytes;  // of any launch of this kernel

  void launch(cudaStream_t stream, Operands const& operands) const {
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads),
             static_cast<std::size_t>(shared_bytes), stream>>>(operands);
  }
};

// Lets the kernel have more shared memory than any may have unasked. Call it while binding. The
// limit holds for all launches of a kernel, which several ops may share.
template <class Operands>
Pass<Operands> prepared(Pass<Operands> const& pass, std::string const& op) {
  auto const status =
      cudaFuncSetAttribute(reinterpret_cast<void const*>(pass.kernel),
                           cudaFuncAttributeMaxDynamicSharedMemorySize, pass.most_shared_bytes);
  if (status != cudaSuccess)
    throw Error(Status::device, fmt::format("{}: {} bytes of shared memory: {}", op,
                                            pass.most_shared_bytes, cudaGetErrorString(status)));
  return pass;
}

// Calls f<kWidth>() for the padded size of a head.
template <class F>
auto with_width(std::int64_t head_size, F const& f) {
  if (head_size <= 64) return f.template operator()<64>();
  if (head_size <= 128) return f.template operator()<128>();
  return f.template operator()<256>();
}

// With fewer rows than this, sums and differences of two row numbers stay within an int.
inline constexpr std::int64_t kMostRows = 1 << 30;

// Returns the shape of an op. Throws Error(bad_input), naming the op, as host::attention_shape
// does.
inline AttentionShape device_shape(KernelContext const& context, Op const& op) {
  auto const s = host::attention_shape(context, op);
  if (s.head_size > 256 || std::max(s.queries, s.keys) >= kMostRows)
    throw Error(Status::bad_input,
                fmt::format("{}: attention with {} rows and heads of {} is not offered", op.name,
                            std::max(s.queries, s.keys), s.head_size));
  auto const as_int = [](std::int64_t x) { return static_cast<int>(std::min(x, kMostRows)); };
  return {.batch = as_int(s.batch),
          .queries = as_int(s.queries),
          .keys = as_int(s.keys),
          .heads = as_int(s.heads),
          .kv_heads = as_int(s.kv_heads),
          .head_size = as_int(s.head_size),
          .behind = as_int(s.behind),
          .ahead = as_int(s.ahead),
          .places = as_int(s.places),
          .scale = s.scale};
}

// Describes an operand whose data a launch will give.
template <class T>
HeadRows<T> head_rows(View const& view, std::int64_t rows, AttentionShape const& s) {
  return {nullptr, row_stride(view), static_cast<int>(rows), s.head_size};
}

// `o` has the Pointers of an op `attention` or `attention_backward`.
ScoreOperands score_operands(auto const& o) {
  return {o.segments_q, o.segments_k, o.distance_bias};
}
inline DropoutOperands dropout_operands(AttentionAttributes const& a) {
  auto const p = static_cast<float>(a.dropout);
  return {nullptr, p, 1 / (1 - p), a.seed, a.origin};
}
// Returns the numbers of samples, or null if nothing is dropped.
inline std::int64_t const* samples_for(DropoutOperands const& dropout,
                                       std::int64_t const* samples) {
  return dropout.p > 0 ? samples : nullptr;
}

}  // namespace spillway::cuda
