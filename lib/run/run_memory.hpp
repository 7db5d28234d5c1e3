// Holds the memory of a run: arenas of the planned sizes and, if the plan spills, the spill file.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "config/config.hpp"
#include "io/spill/fault_injector.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/data/budgets.hpp"
#include "run/pinning.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

// Makes the directory that memory.nvme.path names if the path is relative; an absolute one may be
// where a disk is not mounted. Throws Error(bad_input) when spill files cannot be made there.
void require_spill_directory(MemoryConfig const& memory);

// Returns how a run's spill file moves bytes.
QueueSettings queue_settings(Config const& config);

// Main memory is reserved but not touched, except for what is pinned or registered; storage is
// taken at once.
//
// What the drive uses of main memory is registered with io_uring beside a device with memory of its
// own: rings and slots for updates, in memory that is pinned already. On the cores it would be most
// of the arena, whose pages would be made at once, and count against RLIMIT_MEMLOCK, for a gain
// that could not be measured: there only `debug.force_backend: uring` registers it.
class RunMemory {
 public:
  // Makes the arenas, which may grow to `most` later, as far as the system keeps addresses free.
  // Throws Error(cannot_fit) when there is no such space.
  RunMemory(Config const& config, Device& device, Program const& train, Budgets const& most = {});
  // Makes the spill file if the Program needs one. Faults by a seed differ between `rank`s. Throws
  // Error: cannot_fit when there is no such space, bad_input when memory.nvme.path cannot be used.
  void take_storage(Config const& config, Program const& train, int rank);

  // Returns what a later plan may use. The spill file keeps its size.
  Budgets room() const;
  // Makes the arenas fit a Program; bytes beyond their new ends are lost. Call it only while
  // nothing runs. Throws Error(cannot_fit) when the system refuses; then nothing is lost.
  void resize(Program const& program);

  // Returns what the memory of a device holds now beside the plan; nothing if device memory is main
  // memory.
  std::optional<std::int64_t> device_outside_bytes() const;
  // Returns what is pinned now; nothing if the device needs no pinning.
  std::optional<Pinning> pinning() const;
  // Returns how much main memory of the plan is resident, used or not, since it is pinned for the
  // device or registered with the ring.
  std::int64_t held_bytes() const;

  Tiers& tiers() { return m_tiers; }
  SpillCounters spilled() const { return m_spill ? m_spill->counters() : SpillCounters{}; }
  SpillFile const* spill() const { return m_spill ? &*m_spill : nullptr; }

 private:
  bool register_drive_memory(Program const& program);

  std::unique_ptr<FaultInjector> m_faults;
  Backend m_backend;
  std::int64_t m_registered_bytes = 0;
  Tiers m_tiers;
  std::optional<SpillFile> m_spill;  // comes last: its transfers end before their memory
};

}  // namespace spillway
