// gelu: g = gelu(f), element by element.
#include "kernels/gelu.hpp"

#include <cmath>

#include "kernels/bf16_table.hpp"
#include "kernels/elementwise.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu";

struct Gelu {
  KOKKOS_FUNCTION float operator()(float f) const { return gelu(f); }
};

// By the textbook's formula and the library's tanh.
struct Textbook {
  KOKKOS_FUNCTION float operator()(float f) const {
    double const x = f;
    double const u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
    return static_cast<float>(0.5 * x * (1 + std::tanh(u)));
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

Launch bind(KernelContext const& context, Op const& op) {
  auto const& g = op.outputs[0];
  if (!kOnHost || dtype(context, g) != DType::bf16)
    return bind_elementwise<Gelu, label>(context, op);
  assert(all_contiguous(op));
  static Bf16Table<std::uint16_t> const table([](float f) { return to_bf16(gelu(f)).bits; });
  return [n = element_count(g.shape)](Exec const& exec, void* const* p) {
    for_each_range(exec, label, n,
                   LookUp{table.data(), static_cast<bf16 const*>(p[0]), static_cast<bf16*>(p[1])});
  };
}

}  // namespace

Kernel kernel_gelu() {
  return {bind, serial_elementwise<Textbook>};
}

}  // namespace spillway
