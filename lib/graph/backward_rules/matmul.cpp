#include "graph/build.hpp"
#include "graph/flops.hpp"

namespace spillway {

// c = a b + bias + addend, where b and bias are parameters:
// da = dc b^T, db = a^T dc, dbias = column sums of dc, daddend = dc
void backward_matmul(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &a = forward.inputs[0], &b = forward.inputs[1], &bias = forward.inputs[2];
  auto const dc = context.incoming(forward.outputs[0]);
  double const flops = matmul_flops(a, b);

  if (context.wants(a)) {
    auto const [da, addend] = context.contribute(a);
    context.emit(OpKind::matmul, "da", {dc, transposed(b), {}, addend.value_or(View{})}, {da}, {},
                 flops);
  }
  if (context.wants(b)) {
    auto const db = context.parameter_gradient(b);
    context.emit(OpKind::matmul, "db", {transposed(a), dc, {}, {}}, {db}, {}, flops);
  }
  if (context.wants(bias)) {
    auto const dbias = context.parameter_gradient(bias);
    context.emit(OpKind::column_sum, "dbias", {dc}, {dbias});
  }
  // After a's, which may be the same tensor: what this adds to is there only after the rule.
  if (is_present(forward.inputs[3])) context.pass_on(forward.inputs[3], dc);
}

}  // namespace spillway
