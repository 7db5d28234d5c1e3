// gelu_backward: df = gelu'(f) dg, element by element.
#include <cmath>

#include "kernels/dispatch.hpp"
#include "kernels/gelu.hpp"
#include "kernels/kernel.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label = "spillway::gelu_backward";

template <class T>
struct GeluBackward {
  T const* f;
  T const* dg;
  T* df;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    df[i] = store<T>(gelu_slope(to_float(f[i])) * to_float(dg[i]));
  }
};

template <class T>
GeluBackward<T> operands_of(void* const* p) {
  return {static_cast<T const*>(p[0]), static_cast<T const*>(p[1]), static_cast<T*>(p[2])};
}

template <class T>
Launch bind_typed(std::int64_t n) {
  return [n](Exec const& exec, void* const* p) {
    for_each_element(exec, label, n, operands_of<T>(p));
  };
}

// By the textbook's formula and the library's tanh.
template <class T>
Launch serial_typed(std::int64_t n) {
  return [n](Exec const&, void* const* p) {
    auto const [f, dg, df] = operands_of<T>(p);
    double const k = std::sqrt(2 / M_PI);
    for (std::int64_t i = 0; i < n; ++i) {
      double const x = to_float(f[i]);
      double const t = std::tanh(k * (x + 0.044715 * x * x * x));
      double const slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * k * (1 + 3 * 0.044715 * x * x);
      df[i] = store<T>(static_cast<float>(slope * to_float(dg[i])));
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

Kernel kernel_gelu_backward() {
  return {bind, serial};
}

}  // namespace spillway
