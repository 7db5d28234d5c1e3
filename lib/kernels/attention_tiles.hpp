// What the tiled kernels of attention share: shapes as plain integers, which keys a query sees,
// tiles between memory and fp32 scratch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bf16.hpp"
#include "base/math.hpp"
#include "graph/attention.hpp"
#include "kernels/kernel.hpp"
#include "kernels/launch.hpp"
#include "kernels/tile_product.hpp"

namespace spillway {

// One AttentionDescriptor and tile size, ready for kernels.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, kv_heads, head_size;
  std::int64_t tile;    // rows of q and of k per tile
  std::int64_t side;    // the tile's leading dimension in scratch
  std::int64_t width;   // the head's leading dimension in scratch
  std::int64_t window;  // keys a query sees at most
  bool causal;
  float scale;
  std::int64_t workers;  // pieces of scratch, each used by one thread at a time

  KOKKOS_FUNCTION std::int64_t first_key(std::int64_t query) const {
    return causal && query >= window ? query - window + 1 : 0;
  }
  KOKKOS_FUNCTION std::int64_t past_key(std::int64_t query) const {
    return causal ? query + 1 : keys;
  }
  // The same from the key's side.
  KOKKOS_FUNCTION std::int64_t first_query(std::int64_t key) const { return causal ? key : 0; }
  KOKKOS_FUNCTION std::int64_t past_query(std::int64_t key) const {
    return causal && key + window < queries ? key + window : queries;
  }
  KOKKOS_FUNCTION std::int64_t tile_start(std::int64_t row) const { return row / tile * tile; }

  KOKKOS_FUNCTION std::int64_t query_tiles() const { return (queries + tile - 1) / tile; }
  KOKKOS_FUNCTION std::int64_t key_tiles() const { return (keys + tile - 1) / tile; }
  std::int64_t group() const { return heads / kv_heads; }  // query heads per key head
};

// Throws Error(bad_input), naming the op, for what these kernels do not offer.
AttentionShape attention_shape(KernelContext const& context, Op const& op);

// A [batch * rows, heads * head_size] operand: columns of something wider, perhaps.
template <class T>
struct HeadRows {
  T* data;
  std::int64_t stride, rows, head_size;

  KOKKOS_FUNCTION T* at(std::int64_t sequence, std::int64_t row, std::int64_t head) const {
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

// The rows and columns of a tile that hold data.
struct TileData {
  std::int64_t rows, columns, stride;
};

// tile[side, width] = source, zeros around it.
template <class T>
KOKKOS_FUNCTION void load_tile(T const* source, TileData data, AttentionShape const& shape,
                               float* __restrict__ tile) {
  for (std::int64_t i = 0; i < shape.side; ++i) {
    auto const* const row = source + i * data.stride;
    auto* const out = tile + i * shape.width;
    auto const columns = i < data.rows ? data.columns : 0;
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) out[j] = to_float(row[j]);
    for (auto j = columns; j < shape.width; ++j) out[j] = 0;
  }
}

// tile[columns, side] = factor * source^T, zeros beyond the rows.
template <class T>
KOKKOS_FUNCTION void load_transposed(T const* source, TileData data, float factor,
                                     AttentionShape const& shape, float* __restrict__ tile) {
  for (std::int64_t i = 0; i < shape.side; ++i)
    for (std::int64_t j = 0; j < data.columns; ++j)
      tile[j * shape.side + i] =
          i < data.rows ? factor * to_float(source[i * data.stride + j]) : 0.0f;
}

template <class T>
KOKKOS_FUNCTION void store_tile(float const* tile, float factor, AttentionShape const& shape,
                                TileData data, T* __restrict__ out) {
  for (std::int64_t i = 0; i < data.rows; ++i)
#pragma omp simd
    for (std::int64_t j = 0; j < data.columns; ++j)
      out[i * data.stride + j] = store<T>(factor * tile[i * shape.width + j]);
}

KOKKOS_INLINE_FUNCTION void clear(float* __restrict__ values, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) values[i] = 0;
}

// values[l] = hidden for l in [0, n) outside of [first, past).
KOKKOS_INLINE_FUNCTION void hide_outside(float* __restrict__ values, std::int64_t n,
                                         std::int64_t first, std::int64_t past, float hidden) {
#pragma omp simd
  for (std::int64_t l = 0; l < n; ++l) values[l] = first <= l && l < past ? values[l] : hidden;
}

// Cuts `items` into one range per worker, which has scratch of its own. Neighbours share keys,
// which then stay in a worker's cache: order items by head, and long among short so that ranges
// weigh alike.
template <class Functor>
struct DealtItems {
  Functor functor;
  std::int64_t items, workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    auto const past = items * (worker + 1) / workers;
    for (auto item = items * worker / workers; item < past; ++item) functor(worker, item);
  }
};
// Tile number of the item-th piece of work of a head: first, last, second, last but one, ...
KOKKOS_INLINE_FUNCTION std::int64_t alternating(std::int64_t item, std::int64_t tiles) {
  return item % 2 == 0 ? item / 2 : tiles - 1 - item / 2;
}
template <class Functor>
void deal_items(Exec const& exec, Label const& label, std::int64_t items, std::int64_t workers,
                Functor const& functor) {
  for_each_item(exec, label, workers, DealtItems<Functor>{functor, items, workers});
}

}  // namespace spillway
