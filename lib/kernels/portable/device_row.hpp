// Runs the loops over a row on a device: a team of threads owns the row, and neighbouring threads
// take neighbouring columns. A DeviceRow has the same methods as a HostRow, and its sums have the
// same bits whatever the team's size.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kernels/formulas/sum_lanes.hpp"
#include "kernels/portable/read_ahead.hpp"

namespace spillway {

// Returns a policy that gives each row a team of threads and the scratch that a DeviceRow needs.
// More than kSumLanes threads in a team would have nothing to sum.
template <class Space, class TeamSize = int>
Kokkos::TeamPolicy<Space> row_teams(Space const& space, std::int64_t rows,
                                    TeamSize size = kSumLanes) {
  Kokkos::TeamPolicy<Space> policy(space, static_cast<int>(rows), size);
  return policy.set_scratch_size(0, Kokkos::PerTeam(kSumLanes * sizeof(double)));
}

// A DeviceRow is made from the handle that Kokkos gives each thread of a team of `row_teams`.
template <class Member>
class DeviceRow {
 public:
  KOKKOS_FUNCTION explicit DeviceRow(Member const& member)
      : m_member(member), m_scratch(member.team_scratch(0).get_shmem(kSumLanes * sizeof(double))) {}

  template <class Body>
  KOKKOS_FUNCTION void for_columns(std::int64_t columns, Body const& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(m_member, columns), body);
  }

  static constexpr int kBlock = 1;
  template <class Body>
  KOKKOS_FUNCTION void for_column_blocks(std::int64_t columns, Body const& body) const {
    for_columns(columns, [&](std::int64_t j) { body(j, 1); });
  }

  template <class Sum, class Term>
  KOKKOS_FUNCTION Sum sum_columns(std::int64_t columns, Term const& term) const {
    Sum lane[kSumLanes];
    fill_lanes(lane, Sum{}, columns, term, [](Sum& sum, Sum x) { sum += x; });
    return sum_lanes(lane);
  }

  template <class Term>
  KOKKOS_FUNCTION float max_columns(std::int64_t columns, float lowest, Term const& term) const {
    return top_of_lanes(columns, lowest, term);
  }

  // Returns the last column for which is_match(j) is true, or -1.
  template <class IsMatch>
  KOKKOS_FUNCTION std::int32_t last_column(std::int64_t columns, IsMatch const& is_match) const {
    return top_of_lanes(columns, std::int32_t{-1}, [&](std::int64_t j) {
      return is_match(j) ? static_cast<std::int32_t>(j) : -1;
    });
  }

  template <class F>
  KOKKOS_FUNCTION void once(F const& f) const {
    Kokkos::single(Kokkos::PerTeam(m_member), f);
  }

 private:
  template <class Part, class Term>
  KOKKOS_FUNCTION Part top_of_lanes(std::int64_t columns, Part lowest, Term const& term) const {
    auto const raise = [](Part& top, Part x) { top = x > top ? x : top; };
    Part lane[kSumLanes], top = lowest;
    fill_lanes(lane, lowest, columns, term, raise);
    for (auto const part : lane) raise(top, part);
    return top;
  }

  // Sets lane[l] to `start` and calls add(lane[l], term(j)) for the columns j = l, l + kSumLanes,
  // ... in ascending order. Afterwards all threads of the team have all lanes.
  template <class Part, class Term, class Add>
  KOKKOS_FUNCTION void fill_lanes(Part (&lane)[kSumLanes], Part start, std::int64_t columns,
                                  Term const& term, Add const& add) const {
    static_assert(sizeof(Part) <= sizeof(double));
    auto* const shared = static_cast<Part*>(m_scratch);
    m_member.team_barrier();  // waits until all threads have read what the last call wrote
    Kokkos::parallel_for(Kokkos::TeamVectorRange(m_member, int{kSumLanes}), [&](int l) {
      Part part = start;
      read_ahead<16>(l, columns, kSumLanes, term, [&](Part x) { add(part, x); });
      shared[l] = part;
    });
    m_member.team_barrier();
    for (int l = 0; l < kSumLanes; ++l) lane[l] = shared[l];
  }

  Member const& m_member;
  void* m_scratch;
};

}  // namespace spillway
