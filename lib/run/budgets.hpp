// Decides how much of each tier a rank may use: what the Config says, or a share of what is free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "config/config.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "run/existing_memory.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Says how many bytes of a node are free, and how many exist. device_bytes is the rank's part of
// the memory of a device, and has a value only if the device has memory of its own.
struct Free {
  std::int64_t memory_bytes = 0;                   // free main memory
  std::optional<std::int64_t> storage_bytes = {};  // for spill files; no value if unknown
  std::optional<std::int64_t> device_bytes = {};
  ExistingMemory existing = {};
  bool only_named_drives = true;  // if true, `auto` uses no drive, since nobody has chosen one
};
Free free_here(Config const& config, Compute const& compute);
// Treats all memory of the machine that `file` describes as free.
Free free_of(Machine const& machine, std::string const& file);

// Returns the budgets of one of `node_ranks` ranks on a node. `auto` leaves some memory to the
// process and the machine. The storage budget is at most the rank's share of the free bytes, if
// these are known. Throws Error(bad_input) if the Config asks for more memory than exists.
Budgets budgets(Config const& config, Free const& free, std::int64_t node_ranks);

// Returns for each tier the smallest budget of any rank.
Budgets smallest(std::span<Budgets const> all);

}  // namespace spillway
