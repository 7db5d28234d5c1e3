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

// Creates the directories of memory.nvme.path whose paths are relative. An absolute path is not
// created, since a disk may not be mounted there. Throws Error(bad_input) if spill files cannot be
// made in one of them.
void require_spill_directory(MemoryConfig const& memory);

// Returns how the spill file of a run moves bytes.
QueueSettings queue_settings(Config const& config);

// Main memory is reserved but not touched unless it is pinned or registered. Storage is allocated
// at once.
//
// Beside a device with memory of its own, the ranges of main memory that the drive uses are
// registered with io_uring: rings, and slots of updates, which are pinned anyway. On a CPU such
// ranges are most of the arena, and registering them would make all their pages exist at once and
// count against RLIMIT_MEMLOCK, for no measurable gain. So there only `debug.force_backend: uring`
// registers them.
class RunMemory {
 public:
  // Makes the arenas. They may grow to `most` later, as far as addresses could be reserved. Throws
  // Error(cannot_fit) if there is no such room.
  RunMemory(Config const& config, Device& device, Program const& train, Budgets const& most = {});
  // Makes the spill file if the Program needs one. Seeded faults of `debug.fault` differ between
  // ranks. Throws NoRoom if the drive has no room; Error: cannot_fit if memory is short, bad_input
  // if memory.nvme.path cannot be used, storage if the system cannot reserve space there.
  void make_spill_file(Config const& config, Program const& train, int rank);

  // Returns how much memory and storage a later plan may use. The spill file keeps its size.
  Budgets room() const;
  // Resizes the arenas for a Program. Bytes beyond their new ends are lost. Call it only while
  // nothing runs. Throws Error(cannot_fit) if the system refuses, and then nothing is lost.
  void resize(Program const& program);

  // Returns how many bytes of a device's memory are in use now outside the plan, or nothing if
  // device memory is main memory.
  std::optional<std::int64_t> device_outside_bytes() const;
  // Returns how much is pinned now, or nothing if the device needs no pinning.
  std::optional<Pinning> pinning() const;
  // Returns how much main memory of the plan must stay resident, because it is pinned for the
  // device or registered with the ring.
  std::int64_t held_bytes() const;

  Tiers& tiers() { return m_tiers; }
  SpillCounters spilled() const { return m_spill ? m_spill->counters() : SpillCounters{}; }
  SpillFile const* spill() const { return m_spill ? &*m_spill : nullptr; }

 private:
  bool register_drive_memory(Program const& program);

  std::unique_ptr<FaultInjector> m_faults;
  std::optional<Backend> m_backend;
  std::int64_t m_registered_bytes = 0;
  Tiers m_tiers;
  std::optional<SpillFile> m_spill;  // is last, so that transfers end before memory is freed
};

}  // namespace spillway
