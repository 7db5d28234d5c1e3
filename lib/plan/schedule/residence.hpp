// Which buffer holds each tensor at the moment, while a Program is written.
#pragma once

#include <utility>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/schedule/reach.hpp"

namespace spillway {

// A tensor of the micro-batch with this number among those that a segment runs.
using TensorOfMember = std::pair<TensorId, int>;

class Residence {
 public:
  // The plan says where what outlives a segment lies; one without chunks: on the device. The
  // Program begins with the graph's tensors, ops and chunks.
  Residence(Graph const& graph, Plan const& plan, std::int64_t micro_batches, std::int64_t ranks);

  // Where a persistent tensor, a gradient or a scalar lies between its uses; the buffer appears
  // when first asked for.
  BufferId home(TensorId tensor);
  Tier home_tier(TensorId tensor) const { return m_tiers[tensor]; }

  // The device buffer that holds the tensor now: its home, or one that it was written to. Of what
  // every micro-batch has for itself, that of the current one.
  BufferId resident(TensorId tensor);
  // The same, or a new buffer for a tensor that is about to be written. The first buffer of a
  // gradient or a scalar is its home.
  BufferId resident_or_new(TensorId tensor);
  void set_resident(TensorId tensor, BufferId buffer) { now(tensor) = buffer; }
  void forget(TensorId tensor) { set_resident(tensor, -1); }
  // Micro-batch `member` of the segment is meant from now on.
  void take_up(int member) { m_micro_batch = member; }
  // Not resident yet. `bytes`: only the tensor's first ones; 0: all.
  BufferId add_buffer(TensorId tensor, Tier tier, std::int64_t bytes = 0);
  TensorId add_tensor(Tensor tensor);

  // Whether items of a lane work on a buffer; scalars are within everyone's reach.
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
  // At its begin only what has its home on the device is resident.
  void begin_segment(int micro_batches);
  int micro_batch() const { return m_micro_batch; }  // that follows; -1: the segment runs none

 private:
  BufferId& now(TensorId tensor);

  bool m_unified;
  IdVector<Tier> m_tiers;     // per tensor: of its home
  IdVector<BufferId> m_home;  // per tensor; -1: none
  // By micro-batch of the segment, per tensor; what micro-batches share stands with the first.
  std::vector<IdVector<BufferId>> m_resident;
  int m_micro_batch = -1;
};

}  // namespace spillway
