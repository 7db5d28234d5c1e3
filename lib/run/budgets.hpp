// What a rank may take of each tier: what the Config says, or else its share of what is free.
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

// The free bytes of a node, and what there is in all. The rank's part of the memory of a device is
// only there if that has memory of its own.
struct Free {
  std::int64_t memory_bytes = 0;                   // main memory
  std::optional<std::int64_t> storage_bytes = {};  // where spill files go; nothing: not known
  std::optional<std::int64_t> device_bytes = {};
  ExistingMemory existing = {};
  bool only_named_drives = true;  // `auto` takes none: it cannot know which is meant
};
Free free_here(Config const& config, Compute const& compute);
// Nothing is taken yet on the machine that `file` describes.
Free free_of(Machine const& machine, std::string const& file);

// Returns the budgets of one of `node_ranks` ranks on a node. What `auto` takes leaves some memory
// to the process and the machine; the storage budget never exceeds the rank's share. Throws as
// require_existing does.
Budgets budgets(Config const& config, Free const& free, std::int64_t node_ranks);

// Returns what all ranks have, tier by tier.
Budgets smallest(std::span<Budgets const> all);

}  // namespace spillway
