// A row's loops on a device: a team owns the row, neighbouring threads take neighbouring columns.
// The same interface as HostRow; a sum's order is fixed by the team's size.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace spillway {

template <class Member>
class DeviceRow {
 public:
  KOKKOS_FUNCTION explicit DeviceRow(Member const& member) : m_member(member) {}

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
    Sum sum{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(m_member, columns),
        [&](std::int64_t j, Sum& part) { part += term(j); }, sum);
    return sum;
  }

  template <class Term>
  KOKKOS_FUNCTION float max_columns(std::int64_t columns, float lowest, Term const& term) const {
    float top = lowest;
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(m_member, columns),
        [&](std::int64_t j, float& part) { part = term(j) > part ? term(j) : part; },
        Kokkos::Max<float>(top));
    return top > lowest ? top : lowest;
  }

  template <class F>
  KOKKOS_FUNCTION void once(F const& f) const {
    Kokkos::single(Kokkos::PerTeam(m_member), f);
  }

 private:
  Member const& m_member;
};

}  // namespace spillway
