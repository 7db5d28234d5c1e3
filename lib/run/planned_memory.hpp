// A PlannedMemory is a plan with the memory that it needs. The drive may turn out to have less room
// than planned.
#pragma once

#include <optional>

#include "comm/comm.hpp"
#include "run/plan_run.hpp"
#include "run/run_memory.hpp"
#include "runtime/compute.hpp"

namespace spillway {

struct PlanParts {
  Config const& config;
  std::int64_t vocab;
  Target const& target;
  Compute const& compute;
  std::int64_t available_bytes;  // of the node's main memory, before any rank allocates
  ProductChoices products = {};  // those of the run that is resumed, if there is one
};

class PlannedMemory {
 public:
  // All ranks must call this. If there is no room for a spill file of the planned size, plans again
  // with half of it, as long as such a plan is possible. Throws AgreedError, with cannot_fit if no
  // plan fits or the system does not give the memory.
  PlannedMemory(PlanParts const& parts, Comm& comm);

  PlannedRun const& run() const { return *m_run; }
  RunMemory& memory() { return *m_memory; }

 private:
  bool take_memory(PlanParts const& parts, Budgets const& limits, Comm& comm);

  std::optional<PlannedRun> m_run;
  std::optional<RunMemory> m_memory;
};

}  // namespace spillway
