#include "tests/support/cuda/faults.hpp"

#include <utility>

namespace spillway::test::cuda {

Faults::Verdict Faults::begin(PlannedFault const& fault, bool gives_back) {
  using Kind = PlannedFault::Kind;
  switch (fault.kind) {
    case Kind::dropped:
      return {false, cudaSuccess};
    case Kind::failed:
      return {false, fault.error};
    case Kind::out_of_memory:
      return {false, cudaErrorMemoryAllocation};
    case Kind::sticky:
    case Kind::lost_device:
      m_sticky = fault.kind == Kind::sticky ? fault.error : cudaErrorDevicesUnavailable;
      return {gives_back, m_sticky};
    case Kind::stuck:
      return {true, std::nullopt, true};
    case Kind::faulty:
      m_error_of_kernel = fault.error;
      return {};
  }
  return {};
}

Faults::Verdict Faults::enter(char const* call, bool gives_back) {
  auto const n = m_calls[call]++;
  m_error_of_kernel.reset();
  if (m_sticky) return {gives_back, m_sticky};
  for (auto const& fault : m_planned) {
    if (fault.call == call && fault.n == n) return begin(fault, gives_back);
  }
  return {};
}

void Faults::forget() {
  m_planned.clear();
  m_calls.clear();
  m_sticky.reset();
  m_error_of_kernel.reset();
}

}  // namespace spillway::test::cuda
