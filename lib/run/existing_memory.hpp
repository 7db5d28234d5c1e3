// Compares budgets with the memory that exists, since a budget cannot be larger.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "plan/data/budgets.hpp"

namespace spillway {

// All memory of a node, free or not, in bytes. 0 means unknown.
struct ExistingMemory {
  std::int64_t node_bytes = 0;    // main memory of a node, or the control group's limit on it
  std::int64_t device_bytes = 0;  // a rank's part of a device; 0 if main memory serves
  std::int64_t nvme_bytes = 0;  // from a machine file; 0 for this machine, whose drives are queried
  std::string source = "";      // the machine file that has these numbers; empty for this machine
};

// Throws Error(bad_input) if the budgets in `memory` of `node_ranks` ranks on a node exceed what
// exists. Budgets that are `auto` are not checked, since they are shares of what is free.
void require_existing(MemoryConfig const& memory, ExistingMemory const& existing,
                      std::int64_t node_ranks);

// Returns a warning if the plans of a node's ranks use more main memory than is free now, otherwise
// "". This is no error, because other processes may free some of their memory; if they do not, the
// kernel may kill the run.
std::string overcommitted(TierBytes const& peak_bytes, bool device_is_main_memory,
                          std::int64_t available_bytes, std::int64_t node_ranks);

// Returns a warning if a drive has less free than memory.nvme.size, otherwise "". Plans then use
// only `budget_bytes`.
std::string smaller_drive(MemoryConfig const& memory, std::int64_t budget_bytes);

// Returns how a sentence about the drives begins: "/a has", or "/a and /b have".
std::string drives_have(MemoryConfig const& memory);

}  // namespace spillway
