// Appends items and buffers to a Program and knows which buffer holds each tensor at the moment.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/program.hpp"

namespace spillway {

class ProgramWriter {
 public:
  ProgramWriter(Graph const& graph, std::int64_t micro_batches, std::int64_t ranks);

  // At its begin only persistent and spanning tensors are resident.
  void begin_segment(std::string const& name);
  void end_segment();

  // The device buffer that holds the tensor now. Persistent ones appear when first asked for;
  // another tensor must have been written.
  BufferId resident(TensorId tensor);
  // The same, or a new buffer for a tensor that is about to be written. The first buffer of a
  // gradient or a scalar spans segments.
  BufferId resident_or_new(TensorId tensor);
  BufferId add_buffer(TensorId tensor, Tier tier);  // not resident yet
  void set_resident(TensorId tensor, BufferId buffer);
  void forget(TensorId tensor) { set_resident(tensor, -1); }
  // Back to the buffer that spans segments, from a transient one.
  BufferId set_spanning_resident(TensorId tensor);

  // An op with the buffers of this moment as operands; outputs without one get one.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // An op with these buffers for its inputs and outputs.
  ItemNumber run_on(int op, std::vector<BufferId> operands, Lane lane);
  ItemNumber copy(BufferId from, BufferId to, Lane lane, int block);
  ItemNumber load_batch();
  ItemNumber commit();
  // One item that reads all of one operand and writes all of the other.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk);

  TensorId add_tensor(Tensor tensor);
  int add_op(Op op);

  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }

  Program program;

 private:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  void read_view(Item& item, View const& view, BufferId buffer);
  void write_view(Item& item, View const& view, BufferId buffer);
  void read_all(Item& item, BufferId buffer);
  void write_all(Item& item, BufferId buffer);
  BufferId workspace(int op);
  bool spans_segments(Tensor const& tensor) const;

  std::vector<BufferId> m_resident, m_permanent;  // per tensor, -1: none
  std::map<int, TensorId> m_workspaces;           // per op
};

}  // namespace spillway
