// Writes the items that sum the gradients of micro-batches and ranks into the gradient of a step.
#pragma once

#include <map>

#include "plan/schedule/graph_shape.hpp"
#include "plan/schedule/program_writer.hpp"

namespace spillway {

// GradientItems is a base class of ProgramSink. It turns events about gradients into items.
class GradientItems : public StepSink {
 public:
  // The GraphShape must outlive the GradientItems object, which refers to it.
  // `spare` is explained in schedule.hpp.
  explicit GradientItems(GraphShape const& shape, Program spare = {})
      : m_shape(shape),
        m_writer(shape.graph(), shape.plan(), shape.micro_batches(), shape.ranks(),
                 std::move(spare)) {}

  // Forgets where the last micro-batch's gradients are, so that the next one gets new buffers.
  void forget();
  // A sum of gradients that visits the device is copied to a buffer there, and back to its home.
  void bring_sum_to_visit(int chunk, Station const& at);
  void take_sum_home(int chunk, Station const& at);
  // Copies a gradient of the first micro-batch to the home of the step's gradient. A gradient of a
  // later micro-batch is copied to memory that the lane which adds it can reach. One whose sum
  // visits the device stays there.
  void collect(GradientId gradient, Station const& at);
  void accumulate(GradientId gradient, MicroBatch const& now);
  // Adds a GradientPart, which a further use of a parameter has made, to the chunk's gradient.
  void add_part(GradientId gradient, MicroBatch const&);
  // Exchanges slices of a gradient between ranks: each rank receives the values that all other
  // ranks have for its slice.
  void reduce(GradientId gradient, MicroBatch const& now);
  // Replaces this rank's slice of a gradient by the sum over ranks.
  void sum_slice(GradientId gradient, MicroBatch const& now);
  // Each rank sends the sum of its slice to the other ranks that keep it.
  void gather_gradient(GradientId gradient, MicroBatch const& now);

 protected:
  // Returns the lane that adds to a chunk's gradient, which follows from the gradient's home.
  Lane gradient_lane(Chunk const& chunk) const;
  // Returns the buffer of what this rank keeps of a whole sum, before that goes to the drive.
  BufferId whole_sum(Chunk const& chunk);

  GraphShape const& m_shape;
  ProgramWriter m_writer;

 private:
  // A gradient is exchanged where the comm lane reaches it: where it lies, or in a copy of it.
  struct Exchange {
    BufferId exchanged = -1, received = -1;  // `received` holds what other ranks have sent
  };
  // Adds the op that sums this rank's slice over ranks, and returns the buffer of the sum. The
  // buffer has room for all that this rank keeps, and lies in the tier to which ranks have sent
  // values.
  BufferId sum_own_slice(Chunk const& chunk, BufferId received, MicroBatch const& now);
  // Brings what this rank keeps of a sum over ranks to where the step's gradient is summed up.
  void bring_sum(Chunk const& chunk, BufferId summed, MicroBatch const& now);
  // Says whether the sum over ranks is added to that of an earlier micro-batch.
  bool joins_earlier(Chunk const& chunk, MicroBatch const& now) const {
    return m_shape.reduces_each(chunk.id) && !now.is_only() && !now.first;
  }
  // Appends an item that adds buffer `in` to buffer `out`.
  void sum(OpKind kind, Chunk const& chunk, BufferId in, BufferId out, Lane lane);

  std::map<TensorOfMember, BufferId> m_collected;  // says which buffer holds a gradient now
  std::map<TensorOfMember, Exchange> m_exchanges;
  std::map<int, BufferId> m_visiting;  // says which buffer holds the sum of a chunk's gradients
};

// Returns a tensor without id. Its row r is for rank r's values of the slice that this rank sums.
Tensor received_parts(Tensor const& gradient, std::int64_t ranks);
// Returns an op that adds tensor `in` to tensor `out` in place. The kind of the op is `accumulate`,
// or `tree_sum` if `in` has a row for each rank.
Op op_on_chunk(OpKind kind, Chunk const& chunk, Tensor const& in, Tensor const& out);

}  // namespace spillway
