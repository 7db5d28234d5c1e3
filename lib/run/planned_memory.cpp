#include "run/planned_memory.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "comm/gathered.hpp"
#include "comm/on_all_ranks.hpp"
#include "run/existing_memory.hpp"

namespace spillway {

Budgets common_budgets(Config const& config, Compute const& compute, Comm& comm) {
  Budgets own;
  on_all_ranks(comm, [&] { own = budgets(config, free_here(config, compute), comm.local_size()); });
  auto const drive = comm.rank() == 0 ? smaller_drive(config.memory, own.nvme_bytes) : "";
  if (!drive.empty()) log_warning("{}", drive);
  auto const all = gathered(comm, own);
  own.device_bytes = std::ranges::min(all, {}, &Budgets::device_bytes).device_bytes;
  own.host_bytes = std::ranges::min(all, {}, &Budgets::host_bytes).host_bytes;
  own.nvme_bytes = std::ranges::min(all, {}, &Budgets::nvme_bytes).nvme_bytes;
  own.nvme_bytes_per_s = std::ranges::min(all, {}, &Budgets::nvme_bytes_per_s).nvme_bytes_per_s;
  return own;
}

PlannedMemory::PlannedMemory(PlanParts const& parts, Budgets limits, Comm& comm) {
  do {
    on_all_ranks(comm, [&] {
      m_run = plan_run(parts.config, parts.vocab, parts.choices, parts.micro_is_free, limits,
                       parts.machine, comm.size());
    });
    auto const& peak = m_run->programs.train.peak_bytes;
    limits.nvme_bytes = peak[index(Tier::nvme)] / 2;
  } while (!take_memory(parts, limits, comm));
  if (comm.rank() != 0) return;
  auto const warning =
      overcommitted(m_run->programs.train.peak_bytes, !parts.device.has_own_memory(),
                    parts.available_bytes, comm.local_size());
  if (!warning.empty()) log_warning("{}", warning);
}

// False: the spill file was too large, which is said.
bool PlannedMemory::take_memory(PlanParts const& parts, Budgets const& limits, Comm& comm) {
  auto const& config = parts.config;
  auto const most = config.plan.replan ? limits : Budgets{};
  auto const& program = m_run->programs.train;
  on_all_ranks(comm, [&] { m_memory.emplace(config, parts.device, program, most); });
  try {
    on_all_ranks(comm, [&] { m_memory->take_storage(config, program, comm.rank()); });
    return true;
  } catch (AgreedError const& error) {
    if (error.status() != Status::cannot_fit) throw;
    m_memory.reset();
    if (*error.what() != '\0') log_warning("{}; planned again with half of it", error.what());
    return false;
  }
}

}  // namespace spillway
