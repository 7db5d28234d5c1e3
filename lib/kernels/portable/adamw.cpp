// The op `adamw` updates one chunk in place.
#include "kernels/formulas/adamw.hpp"

#include "kernels/portable/update.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

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

struct AdamW {
  static constexpr auto kind = OpKind::adamw;
  using Attributes = AdamWAttributes;
  using Formula = AdamWFormula;

  static Formula formula(Attributes const& a) {
    return {{a.beta1, a.beta2, a.eps, a.weight_decay}};
  }
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient, o.m); }
  template <class T, class G, class Moment>
  static AdamWMoments<Moment> moments(Pointers<kind, T, G, Moment> const& o) {
    return {o.m, o.v};
  }
};

}  // namespace

Kernel kernel_adamw() {
  return typed_kernel<UpdateKernel<AdamW>>();
}

}  // namespace spillway::SPILLWAY_SPACE
