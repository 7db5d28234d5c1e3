// gelu_backward: df = gelu'(f) dg, element by element.
#include <cmath>

#include "kernels/bf16_table.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gelu.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu_backward";

template <class Form>
struct GeluBackward {
  KOKKOS_FUNCTION float operator()(float f, float dg) const { return Form::slope(f) * dg; }
};

// By the textbook's formulas and the library's functions.
template <class Form>
struct Textbook {
  KOKKOS_FUNCTION float operator()(float f, float dg) const {
    return static_cast<float>(slope(f) * dg);
  }

 private:
  static double slope(double x) {
    double const k = std::sqrt(2 / M_PI);
    if constexpr (std::is_same_v<Form, ErfGelu>) {
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) + 0.5 * k * x * std::exp(-0.5 * x * x);
    } else {
      double const t = std::tanh(k * (x + 0.044715 * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
    }
  }
};

struct LookUp {
  float const* table;  // gelu'(f)
  bf16 const* f;
  bf16 const* dg;
  bf16* df;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    df[i].bits = to_bf16(table[f[i].bits] * to_float(dg[i])).bits;
  }
};

template <class Form>
Launch bind_form(KernelContext const& context, Op const& op) {
  auto const& df = op.outputs[0];
  if (!kOnHost || dtype(context, df) != DType::bf16)
    return bind_elementwise<GeluBackward<Form>, label>(context, op);
  assert(all_contiguous(op));
  static Bf16Table<float> const table(Form::slope);
  return [n = element_count(df.shape)](Exec const& exec, void* const* p) {
    for_each_element(exec, label, n,
                     LookUp{table.data(), static_cast<bf16 const*>(p[0]),
                            static_cast<bf16 const*>(p[1]), static_cast<bf16*>(p[2])});
  };
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch_gelu(op, [&]<class Form>(Form) { return bind_form<Form>(context, op); });
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch_gelu(
      op, [&]<class Form>(Form) { return serial_elementwise<Textbook<Form>>(context, op); });
}

}  // namespace

Kernel kernel_gelu_backward() {
  return {bind, serial};
}

}  // namespace spillway
