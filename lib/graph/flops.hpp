// Counts the floating-point operations of ops that are bound by computation. A multiplication and
// an addition count as two.
#pragma once

#include "graph/attention.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// Returns the number of operations of the product of a [M, K] and b [K, N].
inline double matmul_flops(View const& a, View const& b) {
  return 2.0 * static_cast<double>(a.shape[0]) * static_cast<double>(a.shape[1]) *
         static_cast<double>(b.shape[1]);
}

// Every pair of query and key takes 2 x head_size multiplications, and as many additions, in each
// head. Pairs that segments hide are counted, since only a batch says which these are.
inline double attention_flops(AttentionAttributes const& d) {
  return 4.0 * visible_pairs(d) * static_cast<double>(d.batch * d.heads * d.head_size);
}

// The backward pass computes five products for the forward pass's two: the scores again, and four
// others.
inline double attention_backward_flops(AttentionAttributes const& d) {
  return 2.5 * attention_flops(d);
}

}  // namespace spillway
