// The memory of a run: arenas of the planned sizes and, where the plan spills, the spill file.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "config/config.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/data/budgets.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

// Throws Error(bad_input) when spill files cannot be made where memory.nvme.path says.
void require_spill_directory(MemoryConfig const& memory);

// How a run's spill file moves bytes; `device` is the memory that most of them come from.
QueueSettings queue_settings(Config const& config, std::span<std::byte> device);

// Main memory is reserved, not touched; storage is taken at once.
class RunMemory {
 public:
  // The arenas, which may grow to `most` later, as far as the system keeps addresses free. Throws
  // Error(cannot_fit) when there is no such space.
  RunMemory(Config const& config, Program const& train, Budgets const& most = {});
  // The spill file, where the Program needs one. `rank`: faults by a seed differ between ranks.
  // Throws Error: cannot_fit when there is no such space, bad_input when memory.nvme.path cannot be
  // used.
  void take_storage(Config const& config, Program const& train, int rank);

  // What a plan that comes later may use. The spill file keeps its size, and so does the device
  // arena where the ring knows its pages.
  Budgets room() const;
  // Makes the arenas fit a Program: what lies beyond is lost. Only while nothing runs. Throws
  // Error(cannot_fit) when the system refuses; then nothing is lost.
  void resize(TierBytes const& peak_bytes);

  Tiers& tiers() { return m_tiers; }
  SpillCounters spilled() const { return m_spill ? m_spill->counters() : SpillCounters{}; }
  SpillFile const* spill() const { return m_spill ? &*m_spill : nullptr; }

 private:
  std::unique_ptr<FaultInjector> m_faults;
  bool m_registered;  // the device arena, with the ring
  Tiers m_tiers;
  std::optional<SpillFile> m_spill;  // last: its transfers end before their memory
};

}  // namespace spillway
