// Appends items and buffers to a Program and knows which buffer holds each tensor at the moment.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

class ProgramWriter {
 public:
  // The plan says where what outlives a segment lies; one without chunks: on the device.
  ProgramWriter(Graph const& graph, Plan const& plan, std::int64_t micro_batches,
                std::int64_t ranks);

  // At its begin only what has its home on the device is resident.
  void begin_segment(std::string const& name);
  void end_segment();

  // Where a persistent tensor, a gradient or a scalar lies between its uses; the buffer appears
  // when first asked for.
  BufferId home(TensorId tensor);
  Tier home_tier(TensorId tensor) const { return m_tiers[tensor]; }

  // The device buffer that holds the tensor now: its home, or one that it was written to.
  BufferId resident(TensorId tensor);
  // The same, or a new buffer for a tensor that is about to be written. The first buffer of a
  // gradient or a scalar is its home.
  BufferId resident_or_new(TensorId tensor);
  bool is_resident(TensorId tensor) const { return m_resident[tensor] >= 0; }
  // Not resident yet. `bytes`: only the tensor's first ones; 0: all.
  BufferId add_buffer(TensorId tensor, Tier tier, std::int64_t bytes = 0);
  void set_resident(TensorId tensor, BufferId buffer);
  void forget(TensorId tensor) { set_resident(tensor, -1); }

  // Whether items of a lane work on a tier; scalars are within everyone's reach.
  bool reaches(Lane lane, BufferId buffer) const;
  // The tier to which a lane has brought what it does not reach.
  Tier workplace(Lane lane) const {
    return lane == Lane::host && !m_unified ? Tier::host : Tier::device;
  }

  // An op with the buffers of this moment as operands; outputs without one get one.
  ItemNumber run(int op, Lane lane = Lane::compute);
  // An op with these buffers for its inputs and outputs.
  ItemNumber run_on(int op, std::vector<BufferId> operands, Lane lane);
  // As many bytes as the smaller of both buffers has.
  ItemNumber copy(BufferId from, BufferId to, int block);
  // Elements of `range` of `tensor` between its own buffer and the beginning of one
  // that holds them alone; back only where the step is committed.
  ItemNumber bring(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber take_back(TensorId tensor, ElementRange range, BufferId from, BufferId to);
  ItemNumber load_batch();
  // All ranks decide whether the step counts: by the loss, and by the norms of gradients if
  // `knows_norms`.
  ItemNumber commit(bool knows_norms);
  // Of norms that were not known by the commit.
  ItemNumber report();
  // One item that reads all of one operand and writes all of the other.
  ItemNumber exchange(ItemKind kind, BufferId from, BufferId to, int chunk);

  TensorId add_tensor(Tensor tensor);
  int add_op(Op op);

  ItemNumber next() const { return static_cast<ItemNumber>(program.items.size()); }
  Buffer const& buffer(BufferId id) const { return program.buffers[id]; }
  Tensor const& tensor(TensorId id) const { return program.tensors[id]; }

  Program program;

 private:
  Item& add_item(Lane lane, ItemKind kind, int block, int chunk);
  Item& add_copy(BufferId from, BufferId to, int block, int chunk);
  void read_view(Item& item, View const& view, BufferId buffer);
  void write_view(Item& item, View const& view, BufferId buffer);
  void read_all(Item& item, BufferId buffer);
  void write_all(Item& item, BufferId buffer);
  BufferId workspace(int op, Lane lane);
  bool spans_segments(Tensor const& tensor) const;

  bool m_unified;
  std::vector<Tier> m_tiers;                 // per tensor: of its home
  std::vector<BufferId> m_resident, m_home;  // per tensor, -1: none
  std::map<int, TensorId> m_workspaces;      // per op
};

}  // namespace spillway
