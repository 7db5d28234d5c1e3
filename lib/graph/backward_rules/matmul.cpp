#include "graph/build.hpp"
#include "graph/flops.hpp"

namespace spillway {

// The forward op computes c = a b + bias + addend, where b and bias are parameters. The gradients
// are da = dc b^T, db = a^T dc, dbias = column sums of dc, daddend = dc.
void backward_matmul(BackwardContext& context) {
  auto const o = operands<OpKind::matmul>(context.forward());
  auto const dc = context.incoming(o.c);
  double const flops = matmul_flops(o.a, o.b);
  if (context.wants(o.a)) {
    auto const b = context.weights(o.b);
    auto const [da, addend] = context.contribute(o.a);
    context.emit<OpKind::matmul>(
        "da", {.a = dc, .b = transposed(b), .addend = addend.value_or(View{}), .c = da}, {}, flops);
  }
  if (context.wants(o.b)) {
    auto const db = context.parameter_gradient(o.b);
    context.emit<OpKind::matmul>("db", {.a = transposed(o.a), .b = dc, .c = db}, {}, flops);
  }
  if (context.wants(o.bias)) {
    auto const dbias = context.parameter_gradient(o.bias);
    context.emit<OpKind::column_sum>("dbias", {.dy = dc, .db = dbias});
  }
  // The addend may be the same tensor as `a`. Its gradient comes last, because a sum that it needs
  // is made only after the rule, too late for an op of the rule to read it.
  if (is_present(o.addend)) context.pass_on(o.addend, dc);
}

}  // namespace spillway
