// matmul: c = a b (+ bias) (+ addend).
#include <cmath>

#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/product.hpp"

namespace spillway {
namespace {

// Where an op's operands stand; -1: absent.
struct Positions {
  int bias, addend, c, workspace;
};

Positions positions(Op const& op) {
  bool const bias = op.attributes.flag("bias"), addend = op.attributes.flag("addend");
  int const c = 2 + bias + addend;
  return {bias ? 2 : -1, addend ? c - 1 : -1, c, op.workspace_bytes > 0 ? c + 1 : -1};
}

void* at(void* const* operands, int position) {
  return position < 0 ? nullptr : operands[position];
}

Matmul product(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) {
    return matrix_layout(dtype(context, view), view);
  };
  MatmulShape shape{.a = layout(op.inputs[0]),
                    .b = layout(op.inputs[1]),
                    .c = layout(op.outputs[0]),
                    .bias = op.attributes.flag("bias")};
  MatrixLayout addend;
  if (op.attributes.flag("addend")) {
    addend = layout(op.inputs.back());
    shape.addend = &addend;
  }
  return Matmul(shape, context.arithmetic.threads);
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  return product(context, op).workspace_bytes();
}

Launch bind(KernelContext const& context, Op const& op) {
  // Shared, as std::function wants what it holds to be copyable.
  auto const run = std::make_shared<Matmul const>(product(context, op));
  return [run, at_ = positions(op)](Exec const& exec, void* const* p) {
    (*run)(exec, {p[0], p[1], p[at_.c], at(p, at_.bias), at(p, at_.addend), at(p, at_.workspace)});
  };
}

// Three loops in fp64.
template <class T, class Out>
struct SerialMatmul {
  View a, b, c, addend;  // the addend's is empty where there is none
  Positions position;

  void operator()(Exec const&, void* const* p) const {
    for (std::int64_t m = 0; m < c.shape[0]; ++m)
      for (std::int64_t n = 0; n < c.shape[1]; ++n)
        static_cast<Out*>(p[position.c])[m * c.strides[0] + n * c.strides[1]] =
            store<Out>(static_cast<float>(element(p, m, n)));
  }

 private:
  double element(void* const* p, std::int64_t m, std::int64_t n) const {
    auto const* const left = static_cast<T const*>(p[0]) + m * a.strides[0];
    auto const* const right = static_cast<T const*>(p[1]) + n * b.strides[1];
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[1]; ++k)
      sum += double{to_float(left[k * a.strides[1]])} * to_float(right[k * b.strides[0]]);
    if (position.bias >= 0) sum += to_float(static_cast<T const*>(p[position.bias])[n]);
    if (position.addend >= 0)
      sum += to_float(static_cast<T const*>(
          p[position.addend])[m * addend.strides[0] + n * addend.strides[1]]);
    return sum;
  }
};

Launch serial(KernelContext const& context, Op const& op) {
  auto const addend = op.attributes.flag("addend") ? op.inputs.back() : View{};
  return dispatch(
      [&]<class T, class Out>(T, Out) -> Launch {
        return SerialMatmul<T, Out>{op.inputs[0], op.inputs[1], op.outputs[0], addend,
                                    positions(op)};
      },
      dtype(context, op.inputs[0]), dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_matmul() {
  return {bind, serial, workspace};
}

}  // namespace spillway
