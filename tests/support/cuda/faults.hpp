// Counts calls by name and lets those fail that a test has planned to fail.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

class Faults {
 public:
  struct Verdict {
    bool acts = true;                  // if false, the call does nothing
    std::optional<cudaError_t> error;  // is what the call returns, whatever it does
    bool stuck = false;                // if true, work that the call enqueues never ends
  };
  // Counts the call. A call that `gives_back` something does so even on a lost device, because a
  // process must be able to end.
  Verdict enter(char const* call, bool gives_back);

  // Makes an error of the device sticky.
  void fail(cudaError_t error) { m_sticky = error; }
  void plan(PlannedFault const& fault) { m_planned.push_back(fault); }
  void forget();
  std::optional<cudaError_t> const& sticky() const { return m_sticky; }
  // Returns the error of the device in which a kernel ends that the current call enqueues.
  std::optional<cudaError_t> const& error_of_kernel() const { return m_error_of_kernel; }
  std::map<std::string, std::int64_t> const& calls() const { return m_calls; }

 private:
  Verdict begin(PlannedFault const& fault, bool gives_back);

  std::vector<PlannedFault> m_planned;
  std::map<std::string, std::int64_t> m_calls;
  std::optional<cudaError_t> m_sticky, m_error_of_kernel;
};

}  // namespace spillway::test::cuda
