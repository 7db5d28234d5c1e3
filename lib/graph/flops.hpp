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

// Two products of head_size for every query, key and head. What segments hide is not known here.
inline double attention_flops(AttentionAttributes const& d) {
  return 4.0 * visible_pairs(d) * static_cast<double>(d.batch * d.heads * d.head_size);
}

// Backward computes the scores again and four products more: five for forward's two.
inline double attention_backward_flops(AttentionAttributes const& d) {
  return 2.5 * attention_flops(d);
}

}  // namespace spillway
