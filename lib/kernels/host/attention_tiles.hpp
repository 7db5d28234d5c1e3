// Contains what the ops `attention` and `attention_backward` share: operands, factors, scratch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bf16.hpp"
#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/formulas/fast_math.hpp"
#include "kernels/host/attention_dropout.hpp"
#include "kernels/host/attention_scores.hpp"
#include "kernels/host/product.hpp"
#include "kernels/pointers.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::host {

// The two functions bind serial references, which compute in fp64, one row of scores at a time.
Launch serial_attention(KernelContext const& context, Op const& op);
Launch serial_attention_backward(KernelContext const& context, Op const& op);

// Describes an operand [batch * rows, heads * head_size], which may be columns of a wider matrix.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride, rows, head_size;

  T* at(std::int64_t sequence, std::int64_t row, std::int64_t head) const {
    return data + (sequence * rows + row) * stride + head * head_size;
  }
};

// Holds the number of elements from row to row of each operand. A row's elements are neighbours.
struct AttentionStrides {
  std::int64_t q, k, v, o;
  std::int64_t d_o = 0, dq = 0, dk = 0, dv = 0;  // 0 in the op `attention`
};
AttentionStrides attention_strides(Op const& op);

// Holds the operands of `attention_backward`.
template <class T>
struct GradientOperands {
  HeadRows<T const> q, k, v, o;
  float const* lse;
  HeadRows<T const> d_o;
  Scores scores;
  WeightDropout dropout;
  HeadRows<T> dq, dk, dv;
  float* d_bias;  // null if the op does not compute the bias's gradient
};

template <class T>
GradientOperands<T> gradient_operands(Pointers<OpKind::attention_backward, T> const& p,
                                      AttentionStrides const& stride, AttentionShape const& s) {
  return {.q = {p.q, stride.q, s.queries, s.head_size},
          .k = {p.k, stride.k, s.keys, s.head_size},
          .v = {p.v, stride.v, s.keys, s.head_size},
          .o = {p.o, stride.o, s.queries, s.head_size},
          .lse = p.lse,
          .d_o = {p.d_o, stride.d_o, s.queries, s.head_size},
          .scores = Scores(p, s),
          .dropout = WeightDropout(p.samples, s),
          .dq = {p.dq, stride.dq, s.queries, s.head_size},
          .dk = {p.dk, stride.dk, s.keys, s.head_size},
          .dv = {p.dv, stride.dv, s.keys, s.head_size},
          .d_bias = p.ddistance_bias};
}

// Describes rows of one head as a factor of a product. The lines of the TileSource are these rows
// in `by_row`, and the columns of the head in `by_column`.
struct HeadBlock {
  TileSource by_row, by_column;

  template <class T>
  HeadBlock(HeadRows<T> const& from, std::int64_t sequence, RowRange rows, std::int64_t head)
      : by_row{.data = from.at(sequence, rows.first, head),
               .dtype = std::is_same_v<std::remove_const_t<T>, bf16> ? DType::bf16 : DType::f32,
               .depth_contiguous = true,
               .stride = from.stride,
               .lines = rows.size(),
               .depth = from.head_size},
        by_column(by_row) {
    by_column.depth_contiguous = false;
    std::swap(by_column.lines, by_column.depth);
  }
};

// A RowFactor makes rows the left factor `a` of products. The rows are read in place if the kernels
// can do so, and are otherwise packed into `panels` first.
class RowFactor {
 public:
  RowFactor(TileKernels const& kernels, TileSource const& rows, void* panels);
  // Makes the rows of panel number `panel` the left factor of `product`, and sets its depth.
  void choose(std::int64_t panel, TileProduct& product) const;

 private:
  TileSource m_rows;
  std::byte const* m_first;
  std::int64_t m_panel_bytes, m_row_bytes;
};

// Returns a description of fp32 numbers in scratch, so that they can be packed as a left factor.
inline TileSource scratch_rows(float const* data, std::int64_t stride, std::int64_t lines,
                               std::int64_t depth) {
  return {.data = data, .dtype = DType::f32, .stride = stride, .lines = lines, .depth = depth};
}

// Gives out byte offsets in a worker's scratch, for one array after the other. Each array begins on
// a cache line of its own.
class ScratchPlan {
 public:
  std::int64_t bytes(std::int64_t n) {
    auto const offset = m_bytes;
    m_bytes += round_up<std::int64_t>(n, 64);
    return offset;
  }
  std::int64_t floats(std::int64_t n) { return bytes(n * size_bytes(DType::f32)); }
  std::int64_t total_bytes() const { return m_bytes; }

 private:
  std::int64_t m_bytes = 0;
};

inline float* floats(std::byte* base, std::int64_t offset_bytes) {
  return reinterpret_cast<float*>(base + offset_bytes);
}

// Loops over a row of scores handle this many elements at a time. The length of the row is a
// multiple of kPanel.
inline constexpr int kStripLanes = 32;
static_assert(kPanel % kStripLanes == 0);

inline void fill(float* values, std::int64_t n, float value) {
  std::fill_n(values, n, value);
}
// Sets strip[l] = value for each l in [0, n) for which origin + l is not in `seen`.
inline void fill_outside(float* strip, std::int64_t n, RowRange seen, std::int64_t origin,
                         float value) {
  auto const first = std::clamp<std::int64_t>(seen.first - origin, 0, n);
  auto const past = std::clamp<std::int64_t>(seen.past - origin, first, n);
  fill(strip, first, value);
  fill(strip + past, n - past, value);
}

// Returns the element type of q, k, v and o, and of their gradients.
inline DType attention_dtype(KernelContext const& context, Op const& op) {
  return dtype(context, op.inputs.front());
}
inline TileKernels const& attention_kernels(KernelContext const& context, Op const& op) {
  return tile_kernels(attention_dtype(context, op), is_portable(context.arithmetic));
}

// Makes the Launch of an attention op: a Bound<T>, which is constructed from (op, its
// AttentionShape, its TileKernels), with T the type of q.
template <template <class> class Bound>
Launch bind_attention(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  auto const type = attention_dtype(context, op);
  auto const& kernels = attention_kernels(context, op);
  return dispatch([&]<class T>(T) -> Launch { return Bound<T>(op, shape, kernels); }, type);
}

template <class T>
void store_scaled(float const* __restrict__ sums, float factor, std::int64_t n,
                  T* __restrict__ out) {
#pragma omp simd
  for (std::int64_t c = 0; c < n; ++c) out[c] = store<T>(factor * sums[c]);
}

}  // namespace spillway::host
