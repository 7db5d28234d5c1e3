// A Residence knows which buffer holds each tensor while a Program is written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/schedule/reach.hpp"

namespace spillway {

// Returns the tier of each tensor's home. For tensors of chunks the plan names the tier; without
// chunks in the plan, and for all other tensors, it is the device.
IdVector<Tier> home_tiers(Graph const& graph, Plan const& plan);

// Names a tensor of one micro-batch by its id and the micro-batch's number in the segment.
using TensorOfMember = std::pair<TensorId, int>;

class Residence {
 public:
  // The Program begins with the graph's tensors, ops and chunks.
  Residence(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks);

  // Returns the home of a persistent tensor, gradient or scalar. The first call makes the buffer.
  BufferId home(TensorId tensor);
  Tier home_tier(TensorId tensor) const { return m_tiers[tensor]; }

  // Returns the device buffer that holds the tensor now: its home, or one that it was written to.
  // If each micro-batch has its own tensor, the buffer is that of the current micro-batch.
  BufferId resident(TensorId tensor);
  // Does the same as `resident`, or makes a buffer for a tensor that is about to be written. The
  // first buffer of a gradient or a scalar becomes its home.
  BufferId resident_or_new(TensorId tensor);
  void set_resident(TensorId tensor, BufferId buffer) { now(tensor) = buffer; }
  void forget(TensorId tensor) { set_resident(tensor, -1); }
  // Makes micro-batch `member` of the segment the current one.
  void take_up(int member) { m_micro_batch = member; }
  // Makes a buffer that does not hold the tensor yet. The buffer has room for the tensor's first
  // `bytes` bytes, or for the whole tensor if `bytes` is 0.
  BufferId add_buffer(TensorId tensor, Tier tier, std::int64_t bytes = 0);
  TensorId add_tensor(Tensor tensor);
  TensorId add_workspace(std::string name, DType dtype, std::int64_t elements, int block = -1);

  // Says whether the lane can access the buffer. Every lane can access scalars.
  bool reaches(Lane lane, BufferId buffer) const;
  Tier workplace(Lane lane) const { return spillway::workplace(lane, m_unified); }
  bool is_staged(BufferId from, BufferId to) const {
    return spillway::is_staged(buffer(from).tier, buffer(to).tier, m_unified);
  }

  Buffer const& buffer(BufferId id) const { return program.buffers[id]; }
  Tensor const& tensor(TensorId id) const { return program.tensors[id]; }
  Tensor const& tensor_of(BufferId id) const { return tensor(buffer(id).tensor); }

  Program program;

 protected:
  // Begins a segment. At first only tensors whose home is on the device are resident.
  void begin_segment(int micro_batches);
  int micro_batch() const {
    return m_micro_batch;
  }  // the current micro-batch, or -1 if the segment runs none

 private:
  BufferId& now(TensorId tensor);

  bool m_unified;
  IdVector<Tier> m_tiers;     // the tier of each tensor's home
  IdVector<BufferId> m_home;  // each tensor's home, -1 if it has none yet
  // Holds, for each micro-batch of the segment, the resident buffer of each tensor. The first
  // micro-batch's list also has the shared tensors.
  std::vector<IdVector<BufferId>> m_resident;
  int m_micro_batch = -1;
};

}  // namespace spillway
