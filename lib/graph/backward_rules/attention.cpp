#include "graph/attention.hpp"

#include "graph/build.hpp"
#include "graph/flops.hpp"

namespace spillway {

// The scores are computed again from q, k and the rows' log-sum-exp; nothing of size T x T is kept.
void backward_attention(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const &q = forward.inputs[0], &k = forward.inputs[1], &v = forward.inputs[2];
  auto const& bias = forward.inputs[5];
  auto const &o = forward.outputs[0], &lse = forward.outputs[1];
  auto const dout = context.incoming(o);
  std::vector<View> outputs;
  for (auto const& input : {q, k, v}) outputs.push_back(context.contribute_alone(input));
  outputs.push_back(context.wants(bias) ? context.contribute_alone(bias) : View{});
  context.emit(
      OpKind::attention_backward, "dqkv",
      {q, k, v, o, lse, dout, forward.inputs[3], forward.inputs[4], bias, forward.inputs[6]},
      std::move(outputs), forward.attributes,
      attention_backward_flops(attributes_of<AttentionAttributes>(forward)));
}

}  // namespace spillway
