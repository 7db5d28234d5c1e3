// The op `sgd` updates one chunk in place. Without momentum it has no moment.
#include "kernels/formulas/sgd.hpp"

#include "kernels/portable/one_moment.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

struct Sgd {
  static constexpr auto kind = OpKind::sgd;
  using Attributes = SgdAttributes;
  using Formula = SgdFormula;

  static Formula formula(Attributes const& a) { return {a.momentum, a.weight_decay}; }
};

struct WithoutMomentum : Sgd {
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient); }
  static NoMoment<Formula::Element> moments(auto const&) { return {}; }
};

template <bool kSerially>
Launch bind(KernelContext const& context, Op const& op) {
  bool const has_moment = is_present(operands<OpKind::sgd>(op).m);
  check(has_moment == (attributes_of<SgdAttributes>(op).momentum != 0), name(op.kind),
        "a moment belongs to a momentum");
  if (has_moment)
    return bind_typed_kernel<UpdateKernel<WithOneMoment<Sgd>>, kSerially>(context, op);
  return bind_typed_kernel<UpdateKernel<WithoutMomentum>, kSerially>(context, op);
}

}  // namespace

Kernel kernel_sgd() {
  return {bind<false>, bind<true>};
}

}  // namespace spillway::SPILLWAY_SPACE
