// gelu: g = gelu(f), element by element.
#include "kernels/gelu.hpp"

#include <cmath>

#include "kernels/bf16_table.hpp"
#include "kernels/elementwise.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu";

template <class Form>
struct Gelu {
  KOKKOS_FUNCTION float operator()(float f) const { return Form::value(f); }
};

// By the textbook's formulas and the library's functions.
template <class Form>
struct Textbook {
  KOKKOS_FUNCTION float operator()(float f) const {
    double const x = f;
    if constexpr (std::is_same_v<Form, ErfGelu>) {
      return static_cast<float>(0.5 * x * std::erfc(-x / std::sqrt(2.0)));
    } else {
      double const u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      return static_cast<float>(0.5 * x * (1 + std::tanh(u)));
    }
  }
};

struct LookUp {
  std::uint16_t const* table;  // bits of gelu(f)
  bf16 const* f;
  bf16* g;

  // No simd loop: assembling vectors costs GCC twice the time.
  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    for (auto i = first; i < last; ++i) g[i].bits = table[f[i].bits];
  }
};

template <class Form>
Launch bind_form(KernelContext const& context, Op const& op) {
  auto const& g = op.outputs[0];
  if (!kOnHost || dtype(context, g) != DType::bf16)
    return bind_elementwise<Gelu<Form>, label>(context, op);
  assert(all_contiguous(op));
  static Bf16Table<std::uint16_t> const table([](float f) { return to_bf16(Form::value(f)).bits; });
  return [n = element_count(g.shape)](Exec const& exec, void* const* p) {
    for_each_range(exec, label, n,
                   LookUp{table.data(), static_cast<bf16 const*>(p[0]), static_cast<bf16*>(p[1])});
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

Kernel kernel_gelu() {
  return {bind, serial};
}

}  // namespace spillway
