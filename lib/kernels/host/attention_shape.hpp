// Defines the sizes of an attention op, and which keys the positions of a query and a key (causal
// mask, sliding window) let the query see.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "graph/attention.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/kernel.hpp"

namespace spillway::host {

// A RowRange stands for the numbers `first` to `past` - 1, such as those of rows, panels or heads.
struct RowRange {
  std::int64_t first, past;

  std::int64_t size() const { return past - first; }
  bool empty() const { return past <= first; }
};
inline RowRange intersection(RowRange a, RowRange b) {
  return {std::max(a.first, b.first), std::min(a.past, b.past)};
}
// Returns the numbers of the panels that hold `rows`, where panel 0 begins at row `origin`.
inline RowRange panels_of(RowRange rows, std::int64_t origin) {
  return {(rows.first - origin) / kPanel, panel_count(rows.past - origin)};
}

// Holds an op's AttentionAttributes, and what follows from them, in the form that kernels need.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, kv_heads, head_size;
  std::int64_t tile;           // rows of q and of k per tile, a multiple of kPanel
  std::int64_t width;          // head_size rounded up to a multiple of kPanel
  std::int64_t behind, ahead;  // how many keys before and after its own position a query may see
  float scale;
  float dropout;  // probability with which a weight is dropped
  std::uint64_t seed, origin;
  std::int64_t workers;          // number of scratch areas, each used by one thread at a time
  std::int64_t places;           // queries have positions in [0, places)
  std::int64_t first_query = 0;  // position of the first row of q

  // Returns a copy of this shape in which the first row of q has the position *positions, or 0 if
  // `positions` is null.
  AttentionShape placed(std::int32_t const* positions) const {
    auto shape = *this;
    if (positions) shape.first_query = *positions;
    return shape;
  }

  RowRange keys_of(RowRange rows) const {
    return {std::max<std::int64_t>(rows.first + first_query - behind, 0),
            std::min(rows.past + first_query + ahead, keys)};
  }
  RowRange queries_of(RowRange rows) const {
    return {std::max<std::int64_t>(rows.first - ahead, 0), std::min(rows.past + behind, queries)};
  }
  RowRange tile_at(std::int64_t first, std::int64_t rows) const {
    return {first, std::min(first + tile, rows)};
  }
  // Returns the number of elements from one row of scores to the next.
  std::int64_t strip_stride() const { return sums_stride(tile); }
  std::int64_t tile_start(std::int64_t row) const { return row / tile * tile; }
  std::int64_t query_tiles() const { return div_ceil(queries, tile); }
  std::int64_t key_tiles() const { return div_ceil(keys, tile); }
  std::int64_t group() const { return heads / kv_heads; }       // query heads per key head
  std::int64_t distances() const { return places + keys - 1; }  // elements that a bias has per head
};

// Throws Error(bad_input), naming the op, if its attributes or operands ask for something that the
// kernels of this folder do not offer.
AttentionShape attention_shape(KernelContext const& context, Op const& op);

}  // namespace spillway::host
