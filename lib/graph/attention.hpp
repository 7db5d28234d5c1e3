// An attention op computes o = softmax(scale * q k^T + distance bias) v per head, for each query
// over the keys that it sees.
//
// Row i of q and row j of k are at positions i and j of their sequences. Query i sees key j if the
// two fulfil each of these conditions that the op asks for:
//   causal    j <= i
//   window W  i - j < W and, without causal, j - i < W
//   segments  the rows' numbers are equal and not negative (rows of padding have negative ones)
// With the operand `positions`, row i of q is at position positions[0] + i instead, and row j of k
// is at position j. The conditions causal and window then compare these positions.
//
// A query that sees no key gets o = 0 and a log-sum-exp of +infinity, from which the backward pass
// computes weights of 0. Without `positions`, causal and window are refused where queries and keys
// differ in number, as in cross-attention, because equal positions mean nothing there.
#pragma once

#include <cstdint>

#include "graph/cost_terms.hpp"

namespace spillway {

// Query head h reads key/value head h / (heads / kv_heads).
struct AttentionAttributes {
  std::int64_t batch = 0, queries = 0, keys = 0;  // sequences; rows of q in each; of k
  std::int64_t heads = 0, kv_heads = 0, head_size = 0;
  bool causal = false;
  std::int64_t window = 0;  // in rows; 0 means that there is no limit
  double scale = 1;
  std::int64_t tile = 256;             // rows of q, and of k, in a tile; kernels round it up
  double dropout = 0;                  // share of weights that are dropped
  std::uint64_t seed = 0, origin = 0;  // the run's seed; the id of the forward op

  CostTerms cost_terms() const;
  bool operator==(AttentionAttributes const&) const = default;
};

// Returns how many pairs of query and key, per head and sequence, `causal` and `window` let
// through. It is an upper bound if queries and keys differ in number.
double visible_pairs(AttentionAttributes const& attributes);

}  // namespace spillway
