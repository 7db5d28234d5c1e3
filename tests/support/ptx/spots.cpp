#include "tests/support/ptx/spots.hpp"

#include <fmt/format.h>

#include <utility>

namespace spillway::test::ptx {
namespace {

bool is_inside(std::uint64_t address, std::uint64_t bytes, std::uint64_t size) {
  return address <= size && bytes <= size - address;
}

Spot spot_in_shared(Block& block, std::uint64_t address, std::uint64_t bytes) {
  if (address < kReservedSharedBytes || !is_inside(address, bytes, block.shared.size())) return {};
  return {block.shared.data() + address, block.shared_states.data() + address, &block.races, false};
}

Spot spot_in_local(Warp& warp, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  auto& block = *warp.block;
  auto const size = block.run.code.local_bytes;
  if (!is_inside(address, bytes, size)) return {};
  auto const at = (warp.first_thread + lane) * size + address;
  return {block.local.data() + at, block.local_states.data() + at, nullptr, false};
}

// The bytes are const because no spot is returned for a write.
Spot spot_in_parameters(Run& run, std::uint64_t address, std::uint64_t bytes, Touch touch) {
  auto const& parameters = run.settings.parameters;
  if (touch == Touch::write || !is_inside(address, bytes, parameters.size())) return {};
  return {const_cast<std::byte*>(parameters.data()) + address, nullptr, nullptr, false};
}

Spot spot_in_global(Run& run, std::uint64_t address, std::uint64_t bytes, Touch touch) {
  auto const* region = run.last_region;
  if (region == nullptr || !region->holds(address, bytes)) region = run.memory.find(address, bytes);
  if (region == nullptr) return {};
  run.last_region = region;
  if (!(touch == Touch::write ? region->may_write : region->may_read)) return {};
  auto const at = address - region->address;
  return {region->host + at, region->states == nullptr ? nullptr : region->states + at,
          run.settings.global_races ? &run.races : nullptr, true};
}

}  // namespace

Space space_of(Space space, std::uint64_t& address) {
  if (space != Space::generic) return space == Space::constant ? Space::global : space;
  constexpr std::pair<std::uint64_t, Space> windows[] = {
      {kSharedWindow, Space::shared}, {kLocalWindow, Space::local}, {kParamWindow, Space::param}};
  for (auto const& [window, named] : windows)
    if ((address & window) != 0) {
      address &= ~window;
      return named;
    }
  return Space::global;
}

Spot find_spot(Warp& warp, unsigned lane, Space space, std::uint64_t address, std::uint64_t bytes,
               Touch touch) {
  auto& run = warp.block->run;
  switch (space) {
    case Space::shared:
      return spot_in_shared(*warp.block, address, bytes);
    case Space::local:
      return spot_in_local(warp, lane, address, bytes);
    case Space::param:
      return spot_in_parameters(run, address, bytes, touch);
    default:
      return spot_in_global(run, address, bytes, touch);
  }
}

std::string why_no_spot(Warp const& warp, Space space, std::uint64_t address, unsigned bytes,
                        Touch touch) {
  auto const& run = warp.block->run;
  auto const* const does = touch == Touch::write ? "writes" : "reads";
  auto const range = fmt::format("{} {} bytes at {:#x}", does, bytes, address);
  switch (space) {
    case Space::shared:
      return fmt::format("{} of shared memory, which has those from {:#x} to {:#x}", range,
                         kReservedSharedBytes, warp.block->shared.size());
    case Space::local:
      return fmt::format("{} of local memory, which has {}", range, run.code.local_bytes);
    case Space::param:
      return fmt::format("{} of the parameters, which have {} and are constant", range,
                         run.settings.parameters.size());
    default:
      break;
  }
  if (run.memory.find(address, bytes) != nullptr)
    return fmt::format("{}, which the launch may not: {}", range, run.memory.describe(address));
  return fmt::format("{}, which no memory holds: {}", range, run.memory.describe(address));
}

}  // namespace spillway::test::ptx
