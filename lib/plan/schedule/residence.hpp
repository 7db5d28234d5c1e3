// While a Program is written, it knows which buffer holds each tensor.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/schedule/reach.hpp"

namespace spillway {

// This names a tensor of one micro-batch: its id, and the micro-batch's number in its segment.
using TensorOfMember = std::pair<TensorId, int>;

class Residence {
 public:
  // The plan says where everything lies that outlives a segment; if it has no chunks, that is the
  // device. The Program begins with the graph's tensors, ops and chunks.
  Residence(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks);

  // A persistent tensor, a gradient or a scalar lies in its home between its uses. The buffer
  // appears when it is first asked for.
  BufferId home(TensorId tensor);
  Tier home_tier(TensorId tensor) const { return m_tiers[tensor]; }

  // Returns the device buffer that holds the tensor now: its home, or one that it was written to.
  // Where micro-batches have a tensor each, it is that of the current one.
  BufferId resident(TensorId tensor);
  // Does the same, or makes a buffer for a tensor that is about to be written. The first buffer of
  // a gradient or a scalar becomes its home.
  BufferId resident_or_new(TensorId tensor);
  void set_resident(TensorId tensor, BufferId buffer) { now(tensor) = buffer; }
  void forget(TensorId tensor) { set_resident(tensor, -1); }
  // From now on micro-batch `member` of the segment is the current one.
  void take_up(int member) { m_micro_batch = member; }
  // The new buffer does not hold the tensor yet. It has room for the first `bytes`, or for all if
  // 0.
  BufferId add_buffer(TensorId tensor, Tier tier, std::int64_t bytes = 0);
  TensorId add_tensor(Tensor tensor);
  TensorId add_workspace(std::string name, DType dtype, std::int64_t elements, int block = -1);

  // Scalars are within every lane's reach.
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
  // When a segment begins, only what has its home on the device is there.
  void begin_segment(int micro_batches);
  int micro_batch() const {
    return m_micro_batch;
  }  // the current one, or -1 where the segment runs none

 private:
  BufferId& now(TensorId tensor);

  bool m_unified;
  IdVector<Tier> m_tiers;     // of each tensor's home
  IdVector<BufferId> m_home;  // of each tensor, -1 where it has none yet
  // Each micro-batch of the segment has a list by tensor; shared tensors stand in the first.
  std::vector<IdVector<BufferId>> m_resident;
  int m_micro_batch = -1;
};

}  // namespace spillway
