// An attention op's sizes as plain integers, and which keys a query sees by its position.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/math.hpp"
#include "graph/attention.hpp"
#include "kernels/host/tiles/tiles.hpp"
#include "kernels/kernel.hpp"

namespace spillway::host {

struct Range {  // [first, past)
  std::int64_t first, past;

  std::int64_t size() const { return past - first; }
  bool empty() const { return past <= first; }
};
inline Range intersection(Range a, Range b) {
  return {std::max(a.first, b.first), std::min(a.past, b.past)};
}
// The panels that hold these rows, the first panel beginning at row `origin`.
inline Range panels_of(Range rows, std::int64_t origin) {
  return {(rows.first - origin) / kPanel, panel_count(rows.past - origin)};
}

// One AttentionAttributes, ready for kernels.
struct AttentionShape {
  std::int64_t batch, queries, keys, heads, kv_heads, head_size;
  std::int64_t tile;           // rows of q and of k per tile, a multiple of kPanel
  std::int64_t width;          // of sums: the head in whole panels
  std::int64_t behind, ahead;  // rows that a query sees before and after its own, at most
  float scale;
  float dropout;  // share of weights that are dropped; 0: none
  std::uint64_t seed, origin;
  std::int64_t workers;          // pieces of scratch, each used by one thread at a time
  std::int64_t places;           // positions that queries may have are [0, places)
  std::int64_t first_query = 0;  // position of the first row of q

  // `positions` is that operand, or null where rows have their own numbers.
  AttentionShape placed(std::int32_t const* positions) const {
    auto shape = *this;
    if (positions) shape.first_query = *positions;
    return shape;
  }

  Range keys_of(Range rows) const {
    return {std::max<std::int64_t>(rows.first + first_query - behind, 0),
            std::min(rows.past + first_query + ahead, keys)};
  }
  Range queries_of(Range rows) const {
    return {std::max<std::int64_t>(rows.first - ahead, 0), std::min(rows.past + behind, queries)};
  }
  Range tile_at(std::int64_t first, std::int64_t rows) const {
    return {first, std::min(first + tile, rows)};
  }
  std::int64_t strip_stride() const { return sums_stride(tile); }  // from row to row of scores
  std::int64_t tile_start(std::int64_t row) const { return row / tile * tile; }
  std::int64_t query_tiles() const { return div_ceil(queries, tile); }
  std::int64_t key_tiles() const { return div_ceil(keys, tile); }
  std::int64_t group() const { return heads / kv_heads; }       // query heads per key head
  std::int64_t distances() const { return places + keys - 1; }  // elements of a head's bias
};

// Throws Error(bad_input), naming the op, for what these kernels do not offer.
AttentionShape attention_shape(KernelContext const& context, Op const& op);

}  // namespace spillway::host
