// accumulate: sum += fresh, in place: a gradient of another micro-batch joins those before it.
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label = "spillway::accumulate";

template <class G>
struct Accumulate {
  G const* fresh;
  G* sum;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    sum[i] = store<G>(to_float(sum[i]) + to_float(fresh[i]));
  }
};

template <class G>
Accumulate<G> operands_of(void* const* p) {
  return {static_cast<G const*>(p[0]), static_cast<G*>(p[1])};
}

template <class G>
Launch bind_typed(std::int64_t n) {
  return [n](Exec const& exec, void* const* p) {
    for_each_element(exec, label, n, operands_of<G>(p));
  };
}

template <class G>
Launch serial_typed(std::int64_t n) {
  return [n](Exec const&, void* const* p) {
    auto const [fresh, sum] = operands_of<G>(p);
    for (std::int64_t i = 0; i < n; ++i) sum[i] = store<G>(to_float(sum[i]) + to_float(fresh[i]));
  };
}

Launch bind(KernelContext const& context, Op const& op) {
  assert(all_contiguous(op));
  auto const n = element_count(op.outputs[0].shape);
  return dispatch([n]<class G>(G) { return bind_typed<G>(n); }, dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  auto const n = element_count(op.outputs[0].shape);
  return dispatch([n]<class G>(G) { return serial_typed<G>(n); }, dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_accumulate() {
  return {bind, serial};
}

}  // namespace spillway
