// Gives kernels the values and slopes (derivatives) of activation functions in fp32. For bf16
// arguments, CPUs look them up in tables.
#pragma once

#include "kernels/dispatch.hpp"
#include "kernels/formulas/activation.hpp"
#include "kernels/portable/bf16_table.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::SPILLWAY_SPACE {

struct LookedUp {
  float const* values = nullptr;  // indexed by the bits of a bf16
  float const* slopes = nullptr;

  KOKKOS_FUNCTION float value(bf16 x) const { return values[x.bits]; }
  KOKKOS_FUNCTION float slope(bf16 x) const { return slopes[x.bits]; }
};

template <class Form>
struct Computed {
  template <class T>
  KOKKOS_FUNCTION float value(T x) const {
    return Form::value(to_float(x));
  }
  template <class T>
  KOKKOS_FUNCTION float slope(T x) const {
    return Form::slope(to_float(x));
  }
};

// Returns the tables for an op, which are never freed, or null pointers where computing is as fast.
inline LookedUp activation_tables(KernelContext const& context, Op const& op) {
  if (kLikeDevice || dtype(context, op.outputs.front()) != DType::bf16) return {};
  return with_formula(op, []<class Form>(Form) -> LookedUp {
    if (Form::form == Activation::relu) return {};
    static Bf16Table<float> const values(Form::value), slopes(Form::slope);
    return {values.data(), slopes.data()};
  });
}

// Calls f with an object whose methods value(x) and slope(x) return the activation function and its
// derivative at an x of type T.
template <class T, class F>
void with_activation(Activation form, LookedUp const& tables, F const& f) {
  if constexpr (!kLikeDevice && std::is_same_v<T, bf16>) {
    if (tables.values) return f(tables);
  }
  with_formula(form, [&]<class Form>(Form) { f(Computed<Form>{}); });
}

}  // namespace spillway::SPILLWAY_SPACE
