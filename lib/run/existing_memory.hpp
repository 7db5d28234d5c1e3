// Budgets are held against the memory that there is: what nobody has cannot be given.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "plan/data/budgets.hpp"

namespace spillway {

// All that there is, free or not; 0: not known.
struct ExistingMemory {
  std::int64_t node_bytes = 0;    // main memory of a node, or what its control group may take of it
  std::int64_t device_bytes = 0;  // a rank's part of a device's own; 0 where that is main memory
  std::int64_t nvme_bytes = 0;    // of a node, where a file says so: real drives are looked at
  std::string source = "";        // that says so: a machine file; empty: this machine
};

// Throws Error(bad_input) where the budgets that `memory` names, of `node_ranks` ranks on a node
// together, are more than that. What is auto is a share of what is free, and no more.
void require_existing(MemoryConfig const& memory, ExistingMemory const& existing,
                      std::int64_t node_ranks);

// What to say before step 0 where the plan of all ranks of a node takes more main memory than is
// free: others may give some back in time, or the kernel ends the run. Empty: it has room.
std::string overcommitted(TierBytes const& peak_bytes, bool device_is_main_memory,
                          std::int64_t available_bytes, std::int64_t node_ranks);

// The same for a drive that has less free than memory.nvme.size, of which a plan uses no more.
std::string smaller_drive(MemoryConfig const& memory, std::int64_t budget_bytes);

}  // namespace spillway
