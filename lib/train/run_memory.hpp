// The memory of a run: arenas of the planned sizes and, where the plan spills, the spill file.
#pragma once

#include <memory>
#include <optional>

#include "config/config.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/spill_file.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

// Throws Error(bad_input) when spill files cannot be made where memory.nvme.path says.
void require_spill_directory(MemoryConfig const& memory);

// Main memory is reserved, not touched; storage is taken at once.
class RunMemory {
 public:
  // The arenas. Throws Error(cannot_fit) when there is no such space.
  RunMemory(Config const& config, Program const& train);
  // The spill file, where the Program needs one. `rank`: faults by a seed differ between ranks.
  // Throws Error: cannot_fit when there is no such space, bad_input when memory.nvme.path cannot be
  // used.
  void take_storage(Config const& config, Program const& train, int rank);

  Tiers& tiers() { return m_tiers; }
  SpillCounters spilled() const { return m_spill ? m_spill->counters() : SpillCounters{}; }
  SpillFile const* spill() const { return m_spill ? &*m_spill : nullptr; }

 private:
  std::unique_ptr<FaultInjector> m_faults;
  Tiers m_tiers;
  std::optional<SpillFile> m_spill;  // last: its transfers end before their memory
};

}  // namespace spillway
