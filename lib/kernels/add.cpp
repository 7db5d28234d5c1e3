// add: c = a + b, element by element.
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label = "spillway::add";

template <class T>
struct Add {
  T const* a;
  T const* b;
  T* c;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    c[i] = store<T>(to_float(a[i]) + to_float(b[i]));
  }
};

template <class T>
Add<T> operands_of(void* const* p) {
  return {static_cast<T const*>(p[0]), static_cast<T const*>(p[1]), static_cast<T*>(p[2])};
}

template <class T>
Launch bind_typed(std::int64_t n) {
  return [n](Exec const& exec, void* const* p) {
    for_each_element(exec, label, n, operands_of<T>(p));
  };
}

template <class T>
Launch serial_typed(std::int64_t n) {
  return [n](Exec const&, void* const* p) {
    auto const [a, b, c] = operands_of<T>(p);
    for (std::int64_t i = 0; i < n; ++i) c[i] = store<T>(to_float(a[i]) + to_float(b[i]));
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

Kernel kernel_add() {
  return {bind, serial};
}

}  // namespace spillway
