// A Residence knows which buffer holds each tensor while a Program is written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/data/reach.hpp"

namespace spillway {

// Returns the tier of each tensor's home. The plan says where tensors of chunks have their homes.
// States with an element for each block of many lie where updates run, since they are small, and
// slices of them would be no whole pieces of the drive.
// Batches and scalars have theirs in main memory, and all other tensors on the device.
IdVector<Tier> home_tiers(Graph const& graph, Plan const& plan);
// Returns where a rank's slice of a chunk's parameters lies: where ops would look for all of them
// or, if every rank keeps all of them as well, beside the slices of the states.
Tier parameter_slice_tier(ChunkPlan const& places);

// Names a tensor of one micro-batch by its id and the micro-batch's number in the segment.
using TensorOfMember = std::pair<TensorId, int>;

class Residence {
 public:
  // At first the Program has the tensors, ops and chunks of the graph, and no items. `spare` is
  // explained in schedule.hpp.
  Residence(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks,
            Program spare = {});

  // Returns the buffer that is the tensor's home. The first call for a tensor makes the buffer.
  BufferId home(TensorId tensor);
  Tier home_tier(TensorId tensor) const { return m_tiers[tensor]; }
  // If ranks share out the tensor's chunk, returns the tensor with this rank's slice of it.
  TensorId own(TensorId tensor) const;
  // Returns which elements of a chunk's gradient, parameters or state belong to `range` of its
  // elements, or of those that this rank keeps. Of a state with parts of its own, all do.
  ElementRange of_chunk(TensorId tensor, ElementRange const& range) const;

  // Returns the buffer that holds the tensor on the device now. If every micro-batch has a buffer
  // for the tensor, returns the buffer of the current micro-batch.
  BufferId resident(TensorId tensor);
  // Returns the resident buffer of a tensor that is about to be written, or makes one if there is
  // none. If the home of a gradient or a scalar is on the device, its first buffer is its home.
  BufferId resident_or_new(TensorId tensor);
  void set_resident(TensorId tensor, BufferId buffer) { now(tensor) = buffer; }
  void forget(TensorId tensor) { set_resident(tensor, -1); }
  // Chooses the micro-batch with number `member` in the segment as the current micro-batch.
  void take_up(int member) { m_micro_batch = member; }
  // Makes a buffer with room for the first `bytes` bytes of the tensor, or for the whole tensor if
  // `bytes` is 0. The tensor's resident buffer does not change.
  BufferId add_buffer(TensorId tensor, Tier tier, std::int64_t bytes = 0);
  TensorId add_tensor(Tensor tensor);
  TensorId add_workspace(std::string name, DType dtype, std::int64_t elements, int block = -1);

  bool reaches(Lane lane, BufferId id) const {
    return spillway::reaches(lane, buffer(id).tier, program.unified);
  }
  Tier workplace(Lane lane) const { return spillway::workplace(lane, program.unified); }
  bool is_staged(BufferId from, BufferId to) const {
    return spillway::is_staged(buffer(from).tier, buffer(to).tier, program.unified);
  }

  Buffer const& buffer(BufferId id) const { return program.buffers[id]; }
  Tensor const& tensor(TensorId id) const { return program.tensors[id]; }
  Tensor const& tensor_of(BufferId id) const { return tensor(buffer(id).tensor); }

  // Returns the number that the next item will have.
  ItemNumber next() const { return m_items; }
  // Removes spare items, which must wait until all items are written.
  void drop_spare() { program.items.resize(static_cast<std::size_t>(m_items)); }

  Program program;

 protected:
  // Begins a segment. At first only tensors that the compute lane reaches at home are resident.
  void begin_segment(int micro_batches);
  // Returns the number of the current micro-batch, or -1 if the segment runs none.
  int micro_batch() const { return m_micro_batch; }
  // Returns the next item, which is empty, with the memory of a spare one if there is any.
  Item& new_item();

 private:
  // Takes over the spare Program's copies of the graph's ops and tensors.
  void take_over(Program spare, Graph const& graph);
  // Adds tensors for the slices that this rank keeps of a chunk, and makes its states slices.
  void share_out(Chunk& chunk, ChunkPlan const& plan);
  BufferId& now(TensorId tensor);
  // Returns whether the compute lane finds the tensor at its home.
  bool is_at_home(TensorId id) const {
    return home_tier(id) == compute_tier(tensor(id), program.unified);
  }

  ItemNumber m_items = 0;     // so many of Program::items are written, and the others are spare
  IdVector<Tier> m_tiers;     // says in which tier each tensor's home lies
  IdVector<BufferId> m_home;  // names each tensor's home; -1 means that there is none yet
  // Lists for each micro-batch of the segment the resident buffer of each tensor. The list of the
  // first micro-batch also has the tensors that all micro-batches share.
  std::vector<IdVector<BufferId>> m_resident;
  int m_micro_batch = -1;
};

}  // namespace spillway
