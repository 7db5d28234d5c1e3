#include "kernels/cuda/matmul_plan.hpp"

#include "base/check.hpp"
#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"

namespace spillway::cuda {

MatmulPlan matmul_plan(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) { return matrix_layout(dtype(context, view), view); };
  auto const o = operands<OpKind::matmul>(op);
  MatmulShape shape{
      .a = layout(o.a), .b = layout(o.b), .c = layout(o.c), .bias = is_present(o.bias)};
  shape.accumulate = is_in_place(op, o.c);
  auto const addend = is_present(o.addend) ? layout(o.addend) : MatrixLayout{};
  if (is_present(o.addend)) shape.addend = &addend;
  bool const adds_after = !adds_in_place(shape);
  if (adds_after) {
    check(shape.c.column_stride == 1 && (shape.addend == nullptr || addend.column_stride == 1),
          "a product", "a bias or an addend of bf16 is added to one that lies by rows");
    shape.bias = false;
    shape.addend = nullptr;
  }
  auto const at = [&](View const& view) {
    return is_present(view) ? alignment_of(dtype(context, view), view) : kOperandBytes;
  };
  return {
      product_form(
          shape,
          {.a = at(o.a), .b = at(o.b), .c = at(o.c), .bias = at(o.bias), .addend = at(o.addend)}),
      adds_after};
}

}  // namespace spillway::cuda
