// Keeps the moment of optimizers that have one, or none.
#pragma once

#include <tuple>
#include <type_traits>

#include "kernels/portable/update.hpp"

namespace spillway::SPILLWAY_SPACE {

template <class Element, class Moment>
struct OneMoment {
  static constexpr bool kByDraws = std::is_same_v<Moment, bf16>;

  Moment* m;

  KOKKOS_FUNCTION Element load(float master, std::int64_t i) const {
    return {master, to_float(m[i])};
  }
  KOKKOS_FUNCTION void save(std::int64_t i, Element const& e) const { m[i] = store<Moment>(e.m); }
  KOKKOS_FUNCTION void save(std::int64_t i, Element const& e, std::uint32_t draw) const {
    m[i].bits = to_bf16_by_draw(e.m, draw & 0xffffu).bits;
  }
};

// Completes a Kind of UpdateKernel whose optimizer keeps the moment m.
template <class Kind>
struct WithOneMoment : Kind {
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient, o.m); }
  template <class T, class G, class Moment>
  static OneMoment<typename Kind::Formula::Element, Moment> moments(
      Pointers<Kind::kind, T, G, Moment> const& o) {
    return {o.m};
  }
};

template <class Element>
struct NoMoment {
  static constexpr bool kByDraws = false;

  KOKKOS_FUNCTION Element load(float master, std::int64_t) const { return {master, 0}; }
  KOKKOS_FUNCTION void save(std::int64_t, Element const&) const {}
};

}  // namespace spillway::SPILLWAY_SPACE
