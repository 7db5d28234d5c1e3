// Keeps the moments of AdamW.
#pragma once

#include <type_traits>

#include "kernels/formulas/adamw.hpp"
#include "kernels/portable/update.hpp"

namespace spillway::SPILLWAY_SPACE {

template <class Moment>
struct AdamWMoments {
  static constexpr bool kByDraws = std::is_same_v<Moment, bf16>;

  Moment* m;
  Moment* v;

  KOKKOS_FUNCTION AdamWElement load(float master, std::int64_t i) const {
    return {master, to_float(m[i]), to_float(v[i])};
  }
  KOKKOS_FUNCTION void save(std::int64_t i, AdamWElement const& e) const {
    m[i] = store<Moment>(e.m);
    v[i] = store<Moment>(e.v);
  }
  KOKKOS_FUNCTION void save(std::int64_t i, AdamWElement const& e, std::uint32_t draw) const {
    m[i].bits = to_bf16_by_draw(e.m, draw & 0xffffu).bits;
    v[i].bits = to_bf16_by_draw(e.v, draw >> 16).bits;
  }
};

inline AdamWFormula adamw_formula(AdamWAttributes const& a) {
  return {{a.beta1, a.beta2, a.eps, a.weight_decay, a.lr_share}};
}

}  // namespace spillway::SPILLWAY_SPACE
