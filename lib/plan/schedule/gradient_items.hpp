// These items sum up the gradients of micro-batches and ranks into the gradient of the step.
#pragma once

#include <map>

#include "plan/schedule/graph_shape.hpp"
#include "plan/schedule/program_writer.hpp"

namespace spillway {

// This base class of ProgramSink handles the events about gradients.
class GradientItems : public StepSink {
 public:
  // The shape must outlive this object.
  explicit GradientItems(GraphShape const& shape)
      : m_shape(shape),
        m_writer(shape.graph(), shape.plan(), shape.micro_batches(), shape.ranks()) {}

  // Forgets the last micro-batch's gradients, which the next micro-batch does not need.
  void forget();
  // Copies the first micro-batch's gradient to the home of the step's gradient, and later gradients
  // to memory that the lane which adds them can reach.
  void collect(GradientId gradient, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const& now);
  // Adds a part, which a further use of the chunk's parameters made, to the chunk's gradient.
  void add_part(GradientId gradient, MicroBatch const&);
  // Exchanges slices between ranks: this rank receives the values that all others have for its
  // slice.
  void reduce(GradientId gradient, MicroBatch const& now);
  // Replaces this rank's slice by the sum of all ranks' values, and sends the sum to all ranks.
  void gather(GradientId gradient, MicroBatch const& now);

 protected:
  // Returns the lane that works at the home of the chunk's gradient.
  Lane gradient_lane(Chunk const& chunk) const;

  GraphShape const& m_shape;
  ProgramWriter m_writer;

 private:
  // Adds all of `in` to `out` on the lane that works at the home of the chunk's gradient.
  void sum(OpKind kind, Chunk const& chunk, BufferId in, BufferId out);

  std::map<TensorOfMember, BufferId> m_collected;  // the buffers that now hold gradients
  std::map<TensorOfMember, BufferId> m_received;   // values that other ranks have sent
};

// Returns a tensor [ranks, slice], without id, for other ranks' values of this rank's slice.
Tensor received_parts(Tensor const& gradient, std::int64_t ranks);
// Returns an op that adds all of `in` to `out` in place. The kind is accumulate, or tree_sum to add
// the values that other ranks have sent.
Op op_on_chunk(OpKind kind, Chunk const& chunk, Tensor const& in, Tensor const& out);

}  // namespace spillway
