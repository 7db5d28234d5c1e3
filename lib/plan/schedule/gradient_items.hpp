// How the gradients of micro-batches and ranks become the step's.
#pragma once

#include <map>

#include "plan/schedule/graph_shape.hpp"

namespace spillway {

// The events of gradients: a layer of ProgramSink.
class GradientItems : public StepSink {
 public:
  // Both outlive it.
  GradientItems(Draft& draft, GraphShape const& shape)
      : m_draft(draft), m_writer(draft.writer), m_shape(shape) {}

  // Those of the micro-batch before are of no use to this one.
  void forget();
  // A micro-batch's gradient is copied to where the step's lies (the first one), or to where the
  // lane reaches it that adds it to the step's.
  void collect(GradientId gradient, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const& now);
  // What a further use of the chunk's parameters has summed up to.
  void add_part(GradientId gradient, MicroBatch const&);
  // A slice comes in from every other rank;
  void reduce(GradientId gradient, MicroBatch const& now);
  // their sum with this rank's own replaces that, and goes out again.
  void gather(GradientId gradient, MicroBatch const& now);

 protected:
  Draft& m_draft;
  ProgramWriter& m_writer;
  GraphShape const& m_shape;

 private:
  struct Reduction {
    int tree_sum = -1;  // an op
    BufferId received = -1;
  };
  int accumulate_op(Chunk const& chunk, TensorId tensor);

  std::map<TensorOfMember, BufferId> m_collected;    // where a gradient is now
  std::map<TensorOfMember, Reduction> m_reductions;  // begun and not finished
  std::map<TensorId, int> m_accumulates;             // ops, made once and used in every segment
};

// The lane that works where a chunk's gradient has its home.
Lane gradient_lane(Draft const& draft, Chunk const& chunk);

// What the other ranks send of this rank's slice of a gradient, [ranks, slice]; it has no id yet.
Tensor received_parts(Tensor const& gradient, std::int64_t ranks);
// An op that adds all of `in` to all of `out`, in place: accumulate, or tree_sum of received parts.
Op op_on_chunk(OpKind kind, Chunk const& chunk, Tensor const& in, Tensor const& out);

}  // namespace spillway
