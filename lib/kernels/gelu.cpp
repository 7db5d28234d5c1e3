// gelu: g = gelu(f), element by element.
#include "kernels/gelu.hpp"

#include <cmath>

#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu";

template <class T>
struct Gelu {
  T const* f;
  T* g;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { g[i] = store<T>(gelu(to_float(f[i]))); }
};

template <class T>
Launch bind_typed(std::int64_t n) {
  return [n](Exec const& exec, void* const* p) {
    for_each_element(exec, label, n, Gelu<T>{static_cast<T const*>(p[0]), static_cast<T*>(p[1])});
  };
}

// By the textbook's formula and the library's tanh.
template <class T>
Launch serial_typed(std::int64_t n) {
  return [n](Exec const&, void* const* p) {
    auto const* const f = static_cast<T const*>(p[0]);
    auto* const g = static_cast<T*>(p[1]);
    for (std::int64_t i = 0; i < n; ++i) {
      double const x = to_float(f[i]);
      double const u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
      g[i] = store<T>(static_cast<float>(0.5 * x * (1 + std::tanh(u))));
    }
  };
}

Launch bind(KernelContext const& context, Op const& op) {
  assert(all_contiguous(op));
  auto const n = element_count(op.outputs[0].shape);
  return dispatch([n]<class T>(T) { return bind_typed<T>(n); }, dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  auto const n = element_count(op.outputs[0].shape);
  return dispatch([n]<class T>(T) { return serial_typed<T>(n); }, dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_gelu() {
  return {bind, serial};
}

}  // namespace spillway
