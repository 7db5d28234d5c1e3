// matmul: c = a b (+ bias) (+ addend).
#include <cmath>

#include "kernels/dispatch.hpp"
#include "kernels/host/product.hpp"
#include "kernels/kernel.hpp"

namespace spillway::host {
namespace {

Matmul product(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) { return matrix_layout(dtype(context, view), view); };
  MatmulShape shape{.a = layout(op.inputs[0]),
                    .b = layout(op.inputs[1]),
                    .c = layout(op.outputs[0]),
                    .bias = is_present(op.inputs[2])};
  MatrixLayout addend;
  if (is_present(op.inputs[3])) {
    addend = layout(op.inputs[3]);
    shape.addend = &addend;
  }
  return Matmul(shape, context.arithmetic.threads, is_portable(context.arithmetic));
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  return product(context, op).workspace_bytes();
}

Launch bind(KernelContext const& context, Op const& op) {
  // Shared, as std::function wants what it holds to be copyable.
  auto const run = std::make_shared<Matmul const>(product(context, op));
  return [run, works = op.workspace_bytes > 0](Exec const& exec, void* const* p) {
    (*run)(exec, {p[0], p[1], p[4], p[2], p[3], works ? p[5] : nullptr});
  };
}

// Three loops in fp64.
template <class T, class Out>
struct SerialMatmul {
  View a, b, c, addend;

  void operator()(Exec const&, void* const* p) const {
    for (std::int64_t m = 0; m < c.shape[0]; ++m)
      for (std::int64_t n = 0; n < c.shape[1]; ++n)
        static_cast<Out*>(p[4])[m * c.strides[0] + n * c.strides[1]] =
            store<Out>(static_cast<float>(element(p, m, n)));
  }

 private:
  double element(void* const* p, std::int64_t m, std::int64_t n) const {
    auto const* const left = static_cast<T const*>(p[0]) + m * a.strides[0];
    auto const* const right = static_cast<T const*>(p[1]) + n * b.strides[1];
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[1]; ++k)
      sum += double{to_float(left[k * a.strides[1]])} * to_float(right[k * b.strides[0]]);
    if (p[2]) sum += to_float(static_cast<T const*>(p[2])[n]);
    if (p[3])
      sum += to_float(static_cast<T const*>(p[3])[m * addend.strides[0] + n * addend.strides[1]]);
    return sum;
  }
};

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class T, class Out>(T, Out) -> Launch {
        return SerialMatmul<T, Out>{op.inputs[0], op.inputs[1], op.outputs[0], op.inputs[3]};
      },
      dtype(context, op.inputs[0]), dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_matmul() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
