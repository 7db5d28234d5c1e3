// What attention and its backward share: operands, factors of the products of tiles, scratch.
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

// The references, in fp64 and a row of scores at a time.
Launch serial_attention(KernelContext const& context, Op const& op);
Launch serial_attention_backward(KernelContext const& context, Op const& op);

// A [batch * rows, heads * head_size] operand: columns of something wider, perhaps.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride, rows, head_size;

  T* at(std::int64_t sequence, std::int64_t row, std::int64_t head) const {
    return data + (sequence * rows + row) * stride + head * head_size;
  }
};

// Elements from row to row of operands, whose columns are neighbours.
struct AttentionStrides {
  std::int64_t q, k, v, o;
  std::int64_t d_o = 0, dq = 0, dk = 0, dv = 0;  // of attention_backward
};
AttentionStrides attention_strides(Op const& op);

// Of attention_backward.
template <class T>
struct GradientOperands {
  HeadRows<T const> q, k, v, o;
  float const* lse;
  HeadRows<T const> d_o;
  Scores scores;
  WeightDropout dropout;
  HeadRows<T> dq, dk, dv;
  float* d_bias;  // null: none
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

// The rows [first, past) of one head as a factor whose lines are these rows, or the head's columns.
struct HeadBlock {
  TileSource by_row, by_column;

  template <class T>
  HeadBlock(HeadRows<T> const& from, std::int64_t sequence, Range rows, std::int64_t head)
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

// Rows as `a` of products: read in place where the kernels can, else packed.
class RowFactor {
 public:
  RowFactor(TileKernels const& kernels, TileSource const& rows, void* panels);
  // Sets a, its rows and the depth for the panel-th kPanel rows.
  void choose(std::int64_t panel, TileProduct& product) const;

 private:
  TileSource m_rows;
  std::byte const* m_first;
  std::int64_t m_panel_bytes, m_row_bytes;
};

// fp32 numbers in scratch, as the `a` of one panel.
inline TileSource scratch_rows(float const* data, std::int64_t stride, std::int64_t lines,
                               std::int64_t depth) {
  return {.data = data, .dtype = DType::f32, .stride = stride, .lines = lines, .depth = depth};
}

// Pieces of a worker's scratch, one after another, each on a cache line of its own.
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

inline constexpr int kStripLanes = 32;  // strips of scores are whole panels
static_assert(kPanel % kStripLanes == 0);

inline void fill(float* values, std::int64_t n, float value) {
  std::fill_n(values, n, value);
}
// strip[l] = value for l in [0, n) outside of `seen`, of which l = 0 is number `origin`.
inline void fill_outside(float* strip, std::int64_t n, Range seen, std::int64_t origin,
                         float value) {
  auto const first = std::clamp<std::int64_t>(seen.first - origin, 0, n);
  auto const past = std::clamp<std::int64_t>(seen.past - origin, first, n);
  fill(strip, first, value);
  fill(strip + past, n - past, value);
}

// The element type of q, k, v and o, and of the gradients of these.
inline DType attention_dtype(KernelContext const& context, Op const& op) {
  return dtype(context, op.inputs.front());
}
inline TileKernels const& attention_kernels(KernelContext const& context, Op const& op) {
  return tile_kernels(attention_dtype(context, op), is_portable(context.arithmetic));
}

// A kernel made of tiles, bound to an op: made for T from (op, shape, tile kernels).
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
