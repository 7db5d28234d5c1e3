// Floating-point operations of the compute-bound kinds (a multiply and an add are two), by shape.
#pragma once

#include "graph/attention.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// a [M,K] times b [K,N].
inline double matmul_flops(View const& a, View const& b) {
  return 2.0 * static_cast<double>(a.shape[0]) * static_cast<double>(a.shape[1]) *
         static_cast<double>(b.shape[1]);
}

// Two products of queries x keys x head_size per head; a causal mask leaves half of them.
inline double attention_flops(AttentionAttributes const& d) {
  double const pairs = static_cast<double>(d.queries) * static_cast<double>(d.keys) *
                       (d.mask == MaskKind::causal ? 0.5 : 1.0);
  return 4.0 * pairs * static_cast<double>(d.batch * d.heads * d.head_size);
}

// Backward computes the scores again and four products more: five for forward's two.
inline double attention_backward_flops(AttentionAttributes const& d) {
  return 2.5 * attention_flops(d);
}

}  // namespace spillway
