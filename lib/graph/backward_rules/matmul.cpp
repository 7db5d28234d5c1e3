#include <cassert>

#include "graph/build.hpp"
#include "graph/flops.hpp"

namespace spillway {

// c = a b + bias + addend, where b and bias are parameters:
// da = dc b^T, db = a^T dc, dbias = column sums of dc, daddend = dc
void backward_matmul(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &a = forward.inputs[0], &b = forward.inputs[1];
  auto const dc = context.incoming(forward.outputs[0]);
  double const flops = matmul_flops(a, b);

  if (forward.attributes.flag("addend")) context.pass_on(forward.inputs.back(), dc);

  auto const [da, addend] = context.contribute(a);
  std::vector<View> inputs{dc, transposed(b)};
  if (addend) inputs.push_back(*addend);
  context.emit(OpKind::matmul, "da", std::move(inputs), {da},
               {{"bias", 0}, {"addend", addend ? 1.0 : 0.0}}, flops);

  auto const db = context.parameter_gradient(b);
  assert(!db.accumulate);
  context.emit(OpKind::matmul, "db", {transposed(a), dc}, {db.gradient},
               {{"bias", 0}, {"addend", 0}}, flops);

  if (forward.attributes.flag("bias")) {
    auto const dbias = context.parameter_gradient(forward.inputs[2]).gradient;
    context.emit(OpKind::column_sum, "dbias", {dc}, {dbias});
  }
}

}  // namespace spillway
