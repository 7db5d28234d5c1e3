#include "run/existing_memory.hpp"

#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

// Collects keys of budgets that use the same memory.
struct SharedKeys {
  std::vector<std::string> texts;  // such as "memory.host = 8 GiB"
  std::int64_t bytes = 0;          // the sum of these budgets for one rank

  void add(char const* key, std::optional<std::int64_t> const& value) {
    if (value.value_or(0) == 0) return;
    texts.push_back(fmt::format("{} = {}", key, human_bytes(*value)));
    bytes = clamped_sum(bytes, *value);
  }
};

void require_part(SharedKeys const& keys, std::int64_t there_bytes, char const* what,
                  std::int64_t ranks, std::string const& source) {
  if (there_bytes == 0 || keys.bytes <= there_bytes / ranks) return;
  auto const together = ranks > 1 ? fmt::format(" for each of {} ranks", ranks) : "";
  auto const whose = source.empty() ? std::string("there is") : source + " has";
  throw Error(Status::bad_input,
              fmt::format("{}{}: {} {} of {}; give less, or auto", fmt::join(keys.texts, " and "),
                          together, whose, human_bytes(there_bytes), what));
}

}  // namespace

void require_existing(MemoryConfig const& memory, ExistingMemory const& existing,
                      std::int64_t node_ranks) {
  SharedKeys main, device, nvme;
  auto& of_device = existing.device_bytes == 0 ? main : device;
  of_device.add("memory.device", memory.device_bytes);
  main.add("memory.host", memory.host_bytes);
  nvme.add("memory.nvme.size", memory.nvme_bytes);
  auto const& source = existing.source;
  require_part(main, existing.node_bytes, "main memory on a node", node_ranks, source);
  require_part(device, existing.device_bytes, "device memory for a rank", 1, source);
  require_part(nvme, existing.nvme_bytes, "drives on a node", node_ranks, source);
}

std::string overcommitted(TierBytes const& peak_bytes, bool device_is_main_memory,
                          std::int64_t available_bytes, std::int64_t node_ranks) {
  auto const of_device = device_is_main_memory ? peak_bytes[Tier::device] : 0;
  auto const rank_bytes = peak_bytes[Tier::host] + of_device;
  if (rank_bytes <= available_bytes / node_ranks) return "";
  return fmt::format(
      "the plan takes {} of main memory on this node, of which {} are free now: unless others give "
      "back the rest, the system may end this run without a word; smaller budgets, or auto, plan "
      "for what is free",
      human_bytes(rank_bytes * node_ranks), human_bytes(available_bytes));
}

std::string smaller_drive(MemoryConfig const& memory, std::int64_t budget_bytes) {
  if (!memory.has_nvme_here() || budget_bytes >= memory.nvme_bytes_here()) return "";
  return fmt::format("memory.nvme.size = {}: {} {} for each rank, and the plan uses no more",
                     human_bytes(memory.nvme_bytes_here()), drives_have(memory),
                     human_bytes(budget_bytes));
}

std::string drives_have(MemoryConfig const& memory) {
  auto const paths = memory.nvme_paths_here();
  return fmt::format("{} {}", fmt::join(paths, " and "), paths.size() > 1 ? "have" : "has");
}

}  // namespace spillway
