// The op `activation` computes g = act(f) for each element.
#include "kernels/formulas/activation.hpp"

#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/bf16_table.hpp"
#include "kernels/portable/elementwise.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::activation";

template <class Form>
struct Value {
  KOKKOS_FUNCTION float operator()(float f) const { return Form::value(f); }
};

template <class Form>
struct Reference {
  KOKKOS_FUNCTION float operator()(float f) const {
    return static_cast<float>(reference_value(Form::form, f));
  }
};

struct LookUp {
  std::uint16_t const* table;  // the bits of act(f), indexed by the bits of f
  bf16 const* f;
  bf16* g;

  // The loop is no simd loop, because assembling vectors of looked-up values takes twice as long.
  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    for (auto i = first; i < last; ++i) g[i].bits = table[f[i].bits];
  }
};

template <class Form>
Launch bind_look_up(Op const& op) {
  constexpr auto kind = OpKind::activation;
  require_contiguous(op);
  static Bf16Table<std::uint16_t> const table([](float f) { return to_bf16(Form::value(f)).bits; });
  return [n = element_count(operands<kind>(op).g.shape)](Exec const& exec, void* const* p) {
    auto const o = Pointers<kind, bf16>::of(p);
    for_each_range(exec, label, n, LookUp{table.data(), o.f, o.g});
  };
}

template <class Form>
Launch bind_form(KernelContext const& context, Op const& op) {
  if constexpr (!kLikeDevice) {
    if (dtype(context, op.outputs.front()) == DType::bf16) return bind_look_up<Form>(op);
  }
  return bind_elementwise<OpKind::activation, Value<Form>, label>(context, op);
}

Launch bind(KernelContext const& context, Op const& op) {
  return with_formula(op, [&]<class Form>(Form) { return bind_form<Form>(context, op); });
}

Launch serial(KernelContext const& context, Op const& op) {
  return with_formula(op, [&]<class Form>(Form) {
    return serial_elementwise<OpKind::activation, Reference<Form>>(context, op);
  });
}

}  // namespace

Kernel kernel_activation() {
  return {bind, serial};
}

}  // namespace spillway::SPILLWAY_SPACE
