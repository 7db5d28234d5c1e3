// The op `lion` updates one chunk in place.
#include "kernels/formulas/lion.hpp"

#include "kernels/portable/one_moment.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

struct Lion {
  static constexpr auto kind = OpKind::lion;
  using Attributes = LionAttributes;
  using Formula = LionFormula;

  static Formula formula(Attributes const& a) { return {a.beta1, a.beta2, a.weight_decay}; }
};

}  // namespace

Kernel kernel_lion() {
  return typed_kernel<UpdateKernel<WithOneMoment<Lion>>>();
}

}  // namespace spillway::SPILLWAY_SPACE
