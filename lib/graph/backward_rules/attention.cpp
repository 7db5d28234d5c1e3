#include "graph/attention.hpp"

#include "graph/build.hpp"
#include "graph/flops.hpp"

namespace spillway {

// The backward op computes the scores again from q, k and the rows' log-sum-exp, so that no matrix
// of scores is kept.
void backward_attention(BackwardContext& context) {
  auto const& forward = context.forward();
  auto const o = operands<OpKind::attention>(forward);
  auto const d_o = context.incoming(o.o);
  Operands<OpKind::attention_backward> backward{
      .q = o.q,
      .k = o.k,
      .v = o.v,
      .o = o.o,
      .lse = o.lse,
      .d_o = d_o,
      .segments_q = o.segments_q,
      .segments_k = o.segments_k,
      .distance_bias = o.distance_bias,
      .samples = o.samples,
      .dq = context.contribute_alone(o.q),
      .dk = context.contribute_alone(o.k),
      .dv = context.contribute_alone(o.v),
  };
  if (context.wants(o.distance_bias))
    backward.ddistance_bias = context.contribute_alone(o.distance_bias);
  context.emit<OpKind::attention_backward>(
      "dqkv", backward, forward.attributes,
      attention_backward_flops(attributes_of<AttentionAttributes>(forward)));
}

}  // namespace spillway
