// Launches kernels that take a row at a time. Such a functor(row_team, row) writes its loops over
// columns with methods that HostRow and DeviceRow have in common: a HostRow runs the loops with
// SIMD, a DeviceRow with a team of threads.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/portable/device_row.hpp"
#include "kernels/portable/host_row.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/portable/read_ahead.hpp"

namespace spillway::SPILLWAY_SPACE {

using TeamMember = Kokkos::TeamPolicy<Space>::member_type;
using RowTeam = std::conditional_t<kLikeDevice, DeviceRow<TeamMember>, HostRow>;

template <class Functor>
struct RowOfThread {
  Functor functor;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const { functor(HostRow{}, row); }
};
template <class Functor>
struct RowOfTeam {
  Functor functor;

  KOKKOS_FUNCTION void operator()(TeamMember const& member) const {
    functor(DeviceRow<TeamMember>(member), member.league_rank());
  }
};

// Calls functor(row_team, row) for every row in [0, rows).
template <class Functor>
void for_each_row(Exec const& exec, Label const& label, std::int64_t rows, Functor const& functor) {
  if constexpr (kLikeDevice) {
    auto const threads = std::min<int>(kSumLanes, exec.concurrency());
    auto const teams = row_teams(instance_of(exec), rows, threads);
    Kokkos::parallel_for(label, with_functor_as_argument(teams), RowOfTeam<Functor>{functor});
  } else {
    for_each_unit(exec, label, rows, RowOfThread<Functor>{functor});
  }
}

// Calls functor.sum_column(row, column) for every element of a matrix of sums, each on a thread of
// its own. Devices take sums over rows so: a running sum is in a register, and neighbouring threads
// read neighbouring columns.
template <class Functor>
struct ColumnOfThread {
  Functor functor;
  std::int64_t columns;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    functor.sum_column(i / columns, i % columns);
  }
};
template <class Functor>
void for_each_sum(Exec const& exec, Label const& label, std::int64_t rows, std::int64_t columns,
                  Functor const& functor) {
  for_each_unit(exec, label, rows * columns, ColumnOfThread<Functor>{functor, columns});
}

}  // namespace spillway::SPILLWAY_SPACE
