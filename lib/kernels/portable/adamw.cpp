// The op `adamw` updates one chunk in place.
#include "kernels/portable/adamw_moments.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

struct AdamW {
  static constexpr auto kind = OpKind::adamw;
  using Attributes = AdamWAttributes;
  using Formula = AdamWFormula;

  static Formula formula(Attributes const& a) { return adamw_formula(a); }
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
