#include "run/planned_memory.hpp"

#include "base/log.hpp"
#include "comm/on_all_ranks.hpp"
#include "run/existing_memory.hpp"

namespace spillway {

PlannedMemory::PlannedMemory(PlanParts const& parts, Comm& comm) {
  auto target = parts.target;
  do {
    on_all_ranks(comm, [&] { m_run = plan_run(parts.config, parts.vocab, target); });
    auto const& peak = m_run->programs.train.peak_bytes;
    target.budgets.nvme_bytes = peak[index(Tier::nvme)] / 2;
  } while (!take_memory(parts, target.budgets, comm));
  if (comm.rank() != 0) return;
  auto const warning =
      overcommitted(m_run->programs.train.peak_bytes, !parts.device.has_own_memory(),
                    parts.available_bytes, comm.local_size());
  if (!warning.empty()) log_warning("{}", warning);
}

// Returns false, after a warning, if the drive has no room for the spill file.
bool PlannedMemory::take_memory(PlanParts const& parts, Budgets const& limits, Comm& comm) {
  auto const& config = parts.config;
  auto const most = config.plan.replan ? limits : Budgets{};
  auto const& program = m_run->programs.train;
  on_all_ranks(comm, [&] { m_memory.emplace(config, parts.device, program, most); });
  try {
    on_all_ranks(comm, [&] { m_memory->make_spill_file(config, program, comm.rank()); });
    return true;
  } catch (AgreedError const& error) {
    if (error.status() != Status::cannot_fit) throw;
    m_memory.reset();
    if (*error.what() != '\0') log_warning("{}; planned again with half of it", error.what());
    return false;
  }
}

}  // namespace spillway
