// Kernels on rows: on a CPU one thread owns a row and its loops over columns are SIMD; on a device a
// team owns a row. Sums over columns have one fixed order per backend.
#pragma once

#include <type_traits>

#include "base/function.hpp"
#include "kernels/launch.hpp"

namespace spillway {

struct HostRow {};  // nothing to know: the thread is alone
using RowTeam =
    std::conditional_t<kOnHost, HostRow, Kokkos::TeamPolicy<Exec::Space>::member_type>;

template <class Functor>
struct RowOfTeam {
  Functor functor;

  KOKKOS_FUNCTION void operator()(RowTeam const& team) const { functor(team, team.league_rank()); }
};
template <class Functor>
struct RowOfThread {
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const { functor(HostRow{}, row); }
};

// functor(team, row) for every row in [0, rows). Rows may take different times.
template <class Functor>
void for_each_row(Exec const& exec, Label const& label, std::int64_t rows,
                  Functor const& functor) {
  if constexpr (kOnHost) {
    Kokkos::parallel_for(label,
                         Kokkos::RangePolicy<Exec::Space, RangeIndex>(exec.space(), 0, rows),
                         RowOfThread<Functor>{functor});
  } else {
    Kokkos::parallel_for(
        label,
        Kokkos::TeamPolicy<Exec::Space>(exec.space(), static_cast<int>(rows), Kokkos::AUTO),
        RowOfTeam<Functor>{functor});
  }
}

// body(j) for every column, independent of each other.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_columns([[maybe_unused]] RowTeam const& team, std::int64_t columns,
                                        Body const& body) {
  if constexpr (kOnHost) {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) body(j);
  } else {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, columns), body);
  }
}

// The sum of term(j) over [0, n), in fp32 or fp64, as `kSumLanes` interleaved partial sums and then a
// tree: an order that SIMD follows at full speed and that no compiler or thread count changes.
inline constexpr int kSumLanes = 16;
template <class Sum, class Term>
SPILLWAY_FUNCTION Sum sum_in_lanes(std::int64_t n, Term const& term) {
  Sum lane[kSumLanes] = {};
  std::int64_t const whole = n / kSumLanes * kSumLanes;
  for (std::int64_t j = 0; j < whole; j += kSumLanes) {
#pragma omp simd
    for (int l = 0; l < kSumLanes; ++l) lane[l] += term(j + l);
  }
  for (std::int64_t j = whole; j < n; ++j) lane[j - whole] += term(j);
  for (int width = kSumLanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

// The same for all threads of a row's team; every thread gets the sum.
template <class Sum, class Term>
KOKKOS_INLINE_FUNCTION Sum sum_columns([[maybe_unused]] RowTeam const& team, std::int64_t columns,
                                       Term const& term) {
  if constexpr (kOnHost) {
    return sum_in_lanes<Sum>(columns, term);
  } else {
    Sum sum{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, columns),
        [&](std::int64_t j, Sum& part) { part += term(j); }, sum);
    return sum;
  }
}

}  // namespace spillway
