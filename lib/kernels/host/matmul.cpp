// The op `matmul` computes c = a b (+ bias) (+ addend), or adds that to what c holds.
#include <cmath>

#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host/product.hpp"
#include "kernels/kernel.hpp"
#include "kernels/pointers.hpp"

namespace spillway::host {
namespace {

Matmul product(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) { return matrix_layout(dtype(context, view), view); };
  auto const o = operands<OpKind::matmul>(op);
  MatmulShape shape{
      .a = layout(o.a), .b = layout(o.b), .c = layout(o.c), .bias = is_present(o.bias)};
  shape.accumulate = is_in_place(op, o.c);
  MatrixLayout addend;
  if (is_present(o.addend)) {
    addend = layout(o.addend);
    shape.addend = &addend;
  }
  return Matmul(shape, context.arithmetic.threads, is_portable(context.arithmetic));
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  return product(context, op).workspace_bytes();
}

Launch bind(KernelContext const& context, Op const& op) {
  // A Matmul cannot be copied, but std::function requires a copyable object, so it is shared.
  auto const run = std::make_shared<Matmul const>(product(context, op));
  return [run](Exec const& exec, void* const* operands) {
    auto const p = Pointers<OpKind::matmul, void>::of(operands);
    (*run)(exec, {.a = p.a,
                  .b = p.b,
                  .c = p.c,
                  .bias = p.bias,
                  .addend = p.addend,
                  .workspace = p.workspace});
  };
}

// The serial reference of the op `matmul` consists of three loops in fp64.
template <class T, class Out>
struct SerialMatmul {
  using OpPointers = Pointers<OpKind::matmul, T, Out>;

  View a, b, c, addend;
  bool adds;  // whether to add to what c holds

  void operator()(Exec const&, void* const* operands) const {
    auto const p = OpPointers::of(operands);
    for (std::int64_t m = 0; m < c.shape[0]; ++m)
      for (std::int64_t n = 0; n < c.shape[1]; ++n) {
        auto& to = p.c[m * c.strides[0] + n * c.strides[1]];
        to = store<Out>(static_cast<float>(element(p, m, n) + (adds ? to_float(to) : 0.0f)));
      }
  }

 private:
  double element(OpPointers const& p, std::int64_t m, std::int64_t n) const {
    auto const* const left = p.a + m * a.strides[0];
    auto const* const right = p.b + n * b.strides[1];
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[1]; ++k)
      sum += double{to_float(left[k * a.strides[1]])} * to_float(right[k * b.strides[0]]);
    if (p.bias) sum += to_float(p.bias[n]);
    if (p.addend) sum += to_float(p.addend[m * addend.strides[0] + n * addend.strides[1]]);
    return sum;
  }
};

Launch serial(KernelContext const& context, Op const& op) {
  auto const o = operands<OpKind::matmul>(op);
  return dispatch(
      [&]<class T, class Out>(T, Out) -> Launch {
        return SerialMatmul<T, Out>{o.a, o.b, o.c, o.addend, is_in_place(op, o.c)};
      },
      dtype(context, o.a), dtype(context, o.c));
}

}  // namespace

Kernel kernel_matmul() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
