#include "run/budgets.hpp"

#include <algorithm>

#include "base/process_memory.hpp"
#include "base/units.hpp"
#include "io/spill/directories.hpp"
#include "io/spill/spill_file.hpp"
#include "io/spill/stripes.hpp"
#include "run/existing_memory.hpp"

namespace spillway {
namespace {

std::int64_t storage_budget(MemoryConfig const& memory, Free const& free, std::int64_t node_ranks) {
  bool const has_drive = !free.only_named_drives || memory.has_nvme_here();
  if (memory.nvme_is_none() || !has_drive) return 0;
  if (!free.storage_bytes) return memory.nvme_bytes.value_or(0);
  // What the spill file takes beside the bytes that it holds is not part of the budget.
  Stripes const stripes(std::max<std::size_t>(1, memory.nvme_paths_here().size()));
  auto const more_bytes = SpillSettings{}.spare_bytes + stripes.most_lost_bytes();
  auto const room = std::max<std::int64_t>(0, *free.storage_bytes / node_ranks - more_bytes);
  return std::min(memory.nvme_bytes.value_or(free.only_named_drives ? 0 : room), room);
}

// Returns the bytes per second that one rank may write on average.
double write_limit(SpillConfig const& spill, std::int64_t node_ranks) {
  if (!spill.max_write_per_day_bytes) return Budgets{}.nvme_bytes_per_s;
  return static_cast<double>(*spill.max_write_per_day_bytes) / kDayS /
         static_cast<double>(node_ranks);
}

}  // namespace

Free free_here(Config const& config, Compute const& compute) {
  auto const memory = main_memory();
  Free free{.memory_bytes = memory.available_bytes, .existing = {.node_bytes = memory.total_bytes}};
  if (config.memory.has_nvme_here())
    free.storage_bytes = spill_room_bytes(config.memory.nvme_paths_here());
  if (compute.device.has_own_memory()) {
    auto const properties = compute.device.properties();
    free.device_bytes = properties.free_bytes / compute.sharers;
    free.existing.device_bytes = properties.memory_bytes / compute.sharers;
  }
  return free;
}

Free free_of(Machine const& machine, std::string const& file) {
  Free free{.memory_bytes = machine.host_bytes,
            .existing = {machine.host_bytes, machine.device_bytes, machine.nvme_bytes, file},
            .only_named_drives = false};
  if (machine.nvme_bytes > 0) free.storage_bytes = machine.nvme_bytes;
  if (!machine.is_unified()) free.device_bytes = machine.device_bytes;
  return free;
}

Budgets budgets(Config const& config, Free const& free, std::int64_t node_ranks) {
  auto const& memory = config.memory;
  require_existing(memory, free.existing, node_ranks);
  auto const share = share_of(free.memory_bytes, kMainMemoryShare, node_ranks);
  bool const own = free.device_bytes.has_value();
  auto const host_bytes = memory.host_bytes.value_or(own ? share : 0);
  auto const device_share = own ? share_of(*free.device_bytes, kDeviceShare)
                                : std::max<std::int64_t>(0, share - host_bytes);
  return {memory.device_bytes.value_or(device_share), host_bytes,
          storage_budget(memory, free, node_ranks), write_limit(config.spill, node_ranks)};
}

Budgets smallest(std::span<Budgets const> all) {
  auto const least = [&](auto Budgets::*tier) { return std::ranges::min(all, {}, tier).*tier; };
  return {least(&Budgets::device_bytes), least(&Budgets::host_bytes), least(&Budgets::nvme_bytes),
          least(&Budgets::nvme_bytes_per_s)};
}

}  // namespace spillway
