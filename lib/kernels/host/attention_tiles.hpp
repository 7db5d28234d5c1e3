// What attention and its backward share: operands, factors of the products of tiles, scratch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/bf16.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/formulas/fast_math.hpp"
#include "kernels/host/attention_dropout.hpp"
#include "kernels/host/attention_scores.hpp"
#include "kernels/host/product.hpp"
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

template <class T>
HeadRows<T> head_rows(void* data, std::int64_t stride, std::int64_t rows,
                      AttentionShape const& shape) {
  return {static_cast<T*>(data), stride, rows, shape.head_size};
}

// The row strides of an op's operands, inputs and then outputs; columns must be contiguous.
std::vector<std::int64_t> row_strides(Op const& op);

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
GradientOperands<T> gradient_operands(void* const* p, std::vector<std::int64_t> const& stride,
                                      AttentionShape const& s) {
  return {.q = head_rows<T const>(p[0], stride[0], s.queries, s),
          .k = head_rows<T const>(p[1], stride[1], s.keys, s),
          .v = head_rows<T const>(p[2], stride[2], s.keys, s),
          .o = head_rows<T const>(p[3], stride[3], s.queries, s),
          .lse = static_cast<float const*>(p[4]),
          .d_o = head_rows<T const>(p[5], stride[5], s.queries, s),
          .scores = Scores(p + 6, s),
          .dropout = WeightDropout(p[9], s),
          .dq = head_rows<T>(p[10], stride[10], s.queries, s),
          .dk = head_rows<T>(p[11], stride[11], s.keys, s),
          .dv = head_rows<T>(p[12], stride[12], s.keys, s),
          .d_bias = static_cast<float*>(p[13])};
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

inline TileKernels const& attention_kernels(KernelContext const& context, Op const& op) {
  return tile_kernels(dtype(context, op.outputs[0]), is_portable(context.arithmetic));
}

// A kernel made of tiles, bound to an op: made for T from (op, shape, tile kernels).
template <template <class> class Bound>
Launch bind_attention(KernelContext const& context, Op const& op) {
  auto const shape = attention_shape(context, op);
  auto const type = dtype(context, op.outputs[0]);
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
