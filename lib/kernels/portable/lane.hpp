// Launches functors on the space of the build or on the host lane, for ops that consist of several
// passes and are the same on both: these give the same bits if the functors do.
#pragma once

#include <algorithm>

#include "kernels/host_pieces.hpp"
#include "kernels/portable/rows.hpp"

namespace spillway::SPILLWAY_SPACE {

struct OnSpace {
  static constexpr bool kDevice = kLikeDevice;
  Exec const& exec;

  // Calls f(row_team, i) for every i in [0, n), each of which takes `elements` elements.
  template <class F>
  void rows(Label const& label, std::int64_t n, std::int64_t, F const& f) const {
    for_each_row(exec, label, n, f);
  }
  // Calls f(first, last) for ranges that cover [0, n).
  template <class F>
  void range(Label const& label, std::int64_t n, F const& f) const {
    for_each_range(exec, label, n, f);
  }
  // Calls f(row_team, i) for each of n partitions of rows or, on a device, f.sum_column(i, j) for
  // each of their columns.
  template <class F>
  void sums(Label const& label, std::int64_t n, std::int64_t columns, std::int64_t,
            F const& f) const {
    if constexpr (kDevice) {
      for_each_sum(exec, label, n, columns, f);
    } else {
      for_each_row(exec, label, n, f);
    }
  }
  // Calls f(i) for every i in [0, n), each of which is much work.
  template <class F>
  void units(Label const& label, std::int64_t n, F const& f) const {
    for_each_unit(exec, label, n, f);
  }
};

struct OnHostLane {
  static constexpr bool kDevice = false;
  Exec const& exec;

  template <class F>
  void rows(Label const&, std::int64_t n, std::int64_t elements, F const& f) const {
    auto const piece = std::max<std::int64_t>(1, kPieceElements / elements);
    for_each_piece(exec, n, piece, [&](std::int64_t first, std::int64_t last) {
      for (auto i = first; i < last; ++i) f(HostRow{}, i);
    });
  }
  template <class F>
  void range(Label const&, std::int64_t n, F const& f) const {
    for_each_piece(exec, n, kPieceElements, f);
  }
  template <class F>
  void sums(Label const& label, std::int64_t n, std::int64_t, std::int64_t elements,
            F const& f) const {
    rows(label, n, elements, f);
  }
  template <class F>
  void units(Label const&, std::int64_t n, F const& f) const {
    for_each_piece(exec, n, 1, [&](std::int64_t first, std::int64_t last) {
      for (auto i = first; i < last; ++i) f.on_host(i);
    });
  }
};

}  // namespace spillway::SPILLWAY_SPACE
