#include "profile/compute_lane.hpp"

#include "base/give_way.hpp"

namespace spillway {

ComputeLane::ComputeLane(Compute const& compute)
    : m_stream(compute.device.stream(false)),
      m_begin(compute.device.event()),
      m_end(compute.device.event()),
      m_exec(compute.kernels.device.exec(m_stream ? m_stream->handle() : nullptr)) {}

void ComputeLane::wait_for_end() const {
  wait_for(*m_end);
}

void wait_for(Event const& event) {
  while (!event.done()) give_way();
}

double compute_cores(Compute const& compute) {
  return compute.device.has_own_memory() ? 1 : compute.concurrency();
}

}  // namespace spillway
