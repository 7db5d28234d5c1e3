// The op `matmul` computes c = a b (+ bias) (+ addend), or adds that to what c holds.
#include <memory>

#include "graph/operands.hpp"
#include "kernels/cuda/add_rows.hpp"
#include "kernels/cuda/matmul_plan.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/cuda/stream.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/pointers.hpp"

namespace spillway::cuda {

namespace {

struct Matmul {
  Product product;
  std::int64_t rows, columns, row_stride, addend_stride;  // describe c and the addend
  bool adds_after;

  void operator()(Exec const& exec, void* const* operands) const {
    auto const p = Pointers<OpKind::matmul, void>::of(operands);
    MatmulOperands const at{
        .a = p.a, .b = p.b, .c = p.c, .bias = p.bias, .addend = p.addend, .workspace = p.workspace};
    product(exec, at);
    if (!adds_after) return;
    add_rows(stream_of(exec), {.bias = static_cast<bf16 const*>(p.bias),
                               .addend = static_cast<bf16 const*>(p.addend),
                               .sums = static_cast<float*>(p.c),
                               .rows = rows,
                               .columns = columns,
                               .row_stride = row_stride,
                               .addend_stride = addend_stride});
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  auto const plan = matmul_plan(context, op);
  auto const o = operands<OpKind::matmul>(op);
  // A Product cannot be copied, but std::function requires a copyable object, so it is shared.
  auto const run = std::make_shared<Matmul const>(
      Product(op.name, plan.form, context.arithmetic.products), o.c.shape[0], o.c.shape[1],
      o.c.strides[0], is_present(o.addend) ? o.addend.strides[0] : 0, plan.adds_after);
  return [run](Exec const& exec, void* const* operands) { (*run)(exec, operands); };
}

}  // namespace

Kernel kernel_matmul() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
