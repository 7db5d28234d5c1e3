// A plan together with the memory it needs: storage may turn out not to have it.
#pragma once

#include <optional>

#include "comm/comm.hpp"
#include "run/plan_run.hpp"
#include "run/run_memory.hpp"

namespace spillway {

struct PlanParts {
  Config const& config;
  std::int64_t vocab;
  Target const& target;
  Device& device;
  std::int64_t available_bytes;  // of the node's main memory, before any rank takes some
};

class PlannedMemory {
 public:
  // Collective. Where a spill file of the planned size cannot be had, plans again with half of it,
  // as far as `auto` goes. Throws AgreedError: cannot_fit when nothing fits.
  PlannedMemory(PlanParts const& parts, Comm& comm);

  PlannedRun const& run() const { return *m_run; }
  RunMemory& memory() { return *m_memory; }

 private:
  bool take_memory(PlanParts const& parts, Budgets const& limits, Comm& comm);

  std::optional<PlannedRun> m_run;
  std::optional<RunMemory> m_memory;
};

}  // namespace spillway
