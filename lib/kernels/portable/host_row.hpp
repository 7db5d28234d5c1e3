// Runs the loops over a row on a CPU: one thread owns the row, and SIMD lanes take neighbouring
// columns.
#pragma once

#include <cstdint>

#include "kernels/formulas/sum_lanes.hpp"

namespace spillway {

// Returns the sum of term(j) for j in [0, n), in fp32 or fp64, in the order of
// formulas/sum_lanes.hpp.
template <class Sum, class Term>
Sum sum_in_lanes(std::int64_t n, Term const& term) {
  Sum lane[kSumLanes] = {};
  std::int64_t const whole = n / kSumLanes * kSumLanes;
  for (std::int64_t j = 0; j < whole; j += kSumLanes) {
#pragma omp simd
    for (int l = 0; l < kSumLanes; ++l) lane[l] += term(j + l);
  }
  for (std::int64_t j = whole; j < n; ++j) lane[j - whole] += term(j);
  return sum_lanes(lane);
}

class HostRow {
 public:
  // Calls body(j) for every column j. No call may depend on another.
  template <class Body>
  void for_columns(std::int64_t columns, Body const& body) const {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) body(j);
  }

  // Calls body(first, count) for successive ranges of at most kBlock columns, which are so few that
  // `body` can keep sums over rows for them in registers or in the first-level cache.
  static constexpr int kBlock = 64;
  template <class Body>
  void for_column_blocks(std::int64_t columns, Body const& body) const {
    std::int64_t first = 0;
    for (; first + kBlock <= columns; first += kBlock) body(first, kBlock);
    if (first < columns) body(first, static_cast<int>(columns - first));
  }

  template <class Sum, class Term>
  Sum sum_columns(std::int64_t columns, Term const& term) const {
    return sum_in_lanes<Sum>(columns, term);
  }

  // Returns the largest of `lowest` and all term(j).
  template <class Term>
  float max_columns(std::int64_t columns, float lowest, Term const& term) const {
    float top = lowest;
#pragma omp simd reduction(max : top)
    for (std::int64_t j = 0; j < columns; ++j) top = term(j) > top ? term(j) : top;
    return top;
  }

  // Calls f() once, on the thread that owns the row.
  template <class F>
  void once(F const& f) const {
    f();
  }
};

}  // namespace spillway
