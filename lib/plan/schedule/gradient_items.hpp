// These items make the step's gradients of those of micro-batches and ranks.
#pragma once

#include <map>

#include "plan/schedule/graph_shape.hpp"

namespace spillway {

// This layer of ProgramSink hears the events of gradients.
class GradientItems : public StepSink {
 public:
  // The draft and the shape outlive it.
  GradientItems(Draft& draft, GraphShape const& shape)
      : m_draft(draft), m_writer(draft.writer), m_shape(shape) {}

  // Forgets the gradients of the micro-batch before, which are of no use to the next one.
  void forget();
  // The first micro-batch's gradient is copied to the home of the step's; later ones to where the
  // lane that adds them up can reach them.
  void collect(GradientId gradient, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const& now);
  // Adds the sum of one further use of the chunk's parameters to the chunk's gradient.
  void add_part(GradientId gradient, MicroBatch const&);
  // Every other rank sends its values of this rank's slice;
  void reduce(GradientId gradient, MicroBatch const& now);
  // their sum with this rank's own values replaces the slice and is sent to all.
  void gather(GradientId gradient, MicroBatch const& now);

 protected:
  Draft& m_draft;
  ProgramWriter& m_writer;
  GraphShape const& m_shape;

 private:
  // Adds all of `in` to `out`, where the chunk's gradient has its home.
  void sum(OpKind kind, Chunk const& chunk, BufferId in, BufferId out);

  std::map<TensorOfMember, BufferId> m_collected;  // where a gradient is now
  std::map<TensorOfMember, BufferId> m_received;   // what others have sent of it
};

// This lane works where the chunk's gradient has its home.
Lane gradient_lane(Draft const& draft, Chunk const& chunk);

// Returns the tensor, [ranks, slice] and still without an id, of what other ranks send for this
// rank's slice.
Tensor received_parts(Tensor const& gradient, std::int64_t ranks);
// Returns an op that adds all of `in` to `out`, in place: accumulate, or tree_sum of received
// parts.
Op op_on_chunk(OpKind kind, Chunk const& chunk, Tensor const& in, Tensor const& out);

}  // namespace spillway
