// Says what the workspace of the op `attention_backward` holds on GPUs: the program reserves it,
// and the kernels find its parts.
#pragma once

#include <cstdint>

#include "base/dtype.hpp"
#include "base/math.hpp"
#include "graph/attention.hpp"

namespace spillway {

// Returns how many queries a block of threads has. It has fewer if their rows would fill the shared
// memory.
constexpr std::int64_t attention_query_rows(DType type, std::int64_t head_size) {
  return type == DType::f32 && head_size > 128 ? 32 : 64;
}

// Holds the byte offsets of the parts. `delta` is [batch, heads, queries] in fp32: rowsum(do * o)
// (Dao, FlashAttention-2, arXiv:2307.08691, algorithm 2: D). `bias_sums` is [batch, heads, query
// tiles, sums_per_tile] in fp32: sums of slopes by distance for every tile of `query_rows` queries.
struct AttentionBackwardWorkspace {
  std::int64_t query_rows, query_tiles, sums_per_tile;
  std::int64_t delta = 0, bias_sums;
  std::int64_t total_bytes;

  AttentionBackwardWorkspace(AttentionAttributes const& a, DType type, bool sums_bias)
      : query_rows(attention_query_rows(type, a.head_size)),
        query_tiles(div_ceil(a.queries, query_rows)),
        sums_per_tile(query_rows + a.keys) {
    auto const heads = a.batch * a.heads;
    bias_sums = round_up<std::int64_t>(heads * a.queries * size_bytes(DType::f32), 256);
    auto const sums = sums_bias ? heads * query_tiles * sums_per_tile : 0;
    total_bytes = bias_sums + sums * size_bytes(DType::f32);
  }
};

}  // namespace spillway
