// What an attention op computes: softmax(scale * q k^T + mask (+ bias)) v, per head.
#pragma once

#include <cstdint>

#include "graph/cost_terms.hpp"

namespace spillway {

enum class MaskKind : std::uint8_t { none, causal, documents };

// Query head h reads key/value head h / (heads / kv_heads). `window` = 0: unlimited.
// A kernel refuses at bind time what it does not offer.
struct AttentionAttributes {
  std::int64_t batch = 0, queries = 0, keys = 0;  // sequences, rows of q and of k per sequence
  std::int64_t heads = 0, kv_heads = 0, head_size = 0;
  MaskKind mask = MaskKind::causal;
  std::int64_t window = 0;
  double scale = 1;
  std::int64_t tile = 256;  // rows of q and of k per tile, rounded up to what the kernels want

  CostTerms cost_terms() const;
};

}  // namespace spillway
