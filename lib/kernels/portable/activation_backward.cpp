// The op `activation_backward` computes df = act'(f) dg for each element.
#include "kernels/formulas/activation.hpp"
#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/bf16_table.hpp"
#include "kernels/portable/elementwise.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::activation_backward";

template <class Form>
struct Slope {
  KOKKOS_FUNCTION float operator()(float f, float dg) const { return Form::slope(f) * dg; }
};

template <class Form>
struct Reference {
  KOKKOS_FUNCTION float operator()(float f, float dg) const {
    return static_cast<float>(reference_slope(Form::form, f) * dg);
  }
};

struct LookUp {
  float const* table;  // act'(f), indexed by the bits of f
  bf16 const* f;
  bf16 const* dg;
  bf16* df;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    df[i].bits = to_bf16(table[f[i].bits] * to_float(dg[i])).bits;
  }
};

template <class Form>
Launch bind_look_up(Op const& op) {
  constexpr auto kind = OpKind::activation_backward;
  require_contiguous(op);
  static Bf16Table<float> const table(Form::slope);
  return [n = element_count(operands<kind>(op).df.shape)](Exec const& exec, void* const* p) {
    auto const o = Pointers<kind, bf16>::of(p);
    for_each_element(exec, label, n, LookUp{table.data(), o.f, o.dg, o.df});
  };
}

template <class Form>
Launch bind_form(KernelContext const& context, Op const& op) {
  if constexpr (!kLikeDevice) {
    if (dtype(context, op.outputs.front()) == DType::bf16) return bind_look_up<Form>(op);
  }
  return bind_elementwise<OpKind::activation_backward, Slope<Form>, label>(context, op);
}

Launch bind(KernelContext const& context, Op const& op) {
  return with_formula(op, [&]<class Form>(Form) { return bind_form<Form>(context, op); });
}

Launch serial(KernelContext const& context, Op const& op) {
  return with_formula(op, [&]<class Form>(Form) {
    return serial_elementwise<OpKind::activation_backward, Reference<Form>>(context, op);
  });
}

}  // namespace

Kernel kernel_activation_backward() {
  return {bind, serial};
}

}  // namespace spillway::SPILLWAY_SPACE
