#include "tests/support/ptx/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace spillway::test::ptx {
namespace {

struct Spot {
  std::byte* at = nullptr;  // null if there is nothing
  std::uint8_t* states = nullptr;
  Races* races = nullptr;
  bool is_global = false;
};

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

// Parameters cannot be written.
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

std::string why_nothing(Warp const& warp, Space space, std::uint64_t address, unsigned bytes,
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

std::string describe(Run const& run, Race const& race, Toucher const& toucher) {
  auto const* const does = toucher.writes ? "writes" : "reads";
  auto const* const did = race.earlier_writes ? "wrote" : "read";
  auto const thread = race.earlier.warp * kLanes + race.earlier.lane;
  auto const next =
      std::ranges::upper_bound(run.begun, race.earlier.epoch, {}, &Run::Begun::first_epoch);
  auto const block = std::prev(next)->block;
  return fmt::format(
      "a race: {} what thread number {} of block number {} {}, and nothing orders them", does,
      thread, block, did);
}

void touch_races(Warp& warp, unsigned lane, Races& races, std::uint64_t address, unsigned bytes,
                 Touch touch, bool is_strong) {
  auto const& block = *warp.block;
  Stamp const now{block.run.epoch, lane, warp.first_thread / kLanes, is_strong, warp.time[lane]};
  Toucher const toucher{now, block.first_epoch, &warp.seen[lane], touch == Touch::write};
  if (auto const race = races.touch(address, bytes, toucher))
    complain(warp, lane, describe(block.run, *race, toucher));
}

using Addresses = std::array<std::uint64_t, kLanes>;

Addresses addresses_of(Warp const& warp, Address const& address) {
  alignas(64) Addresses result;
  auto const offset = static_cast<std::uint64_t>(address.offset);
  auto const* const wide = warp.lanes<std::uint64_t const>(address.slot);
  auto const* const narrow = warp.lanes<std::uint32_t const>(address.slot);
  if (address.bytes == 8)
    for (unsigned lane = 0; lane < kLanes; ++lane) result[lane] = wide[lane] + offset;
  else
    for (unsigned lane = 0; lane < kLanes; ++lane) result[lane] = narrow[lane] + offset;
  return result;
}

bool are_apart_by(Addresses const& addresses, std::uint64_t bytes) {
  std::uint64_t differ = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    differ |= addresses[lane] ^ (addresses[0] + lane * bytes);
  return differ == 0;
}

bool all_are_known(std::uint8_t const* states, std::size_t bytes) {
  std::uint8_t differ = 0;
  for (std::size_t i = 0; i < bytes; ++i) differ |= states[i] ^ kKnown;
  return differ == 0;
}

// Fills in what all lanes touch at once; false if it must be found lane by lane.
bool place_together(Warp& warp, Addresses const& addresses, Space named, unsigned bytes,
                    Touch touch, bool is_strong, Places& result) {
  auto address = addresses[0];
  auto const space = space_of(named, address);
  bool const is_contiguous = are_apart_by(addresses, bytes);
  bool const is_uniform = !is_contiguous && touch == Touch::read && are_apart_by(addresses, 0);
  if (space == Space::local || !(is_contiguous || is_uniform) || address % bytes != 0) return false;
  auto const total = is_contiguous ? kLanes * bytes : bytes;
  auto const spot = find_spot(warp, 0, space, address, total, touch);
  if (spot.at == nullptr) return false;
  auto const stride = is_contiguous ? bytes : 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    result.at[lane] = spot.at + lane * stride;
    result.states[lane] = spot.states == nullptr ? nullptr : spot.states + lane * stride;
  }
  // Of many lanes that read the same, two tell all others.
  auto const step = is_contiguous ? 1 : kLanes - 1;
  if (spot.races != nullptr)
    for (unsigned lane = 0; lane < kLanes; lane += step)
      touch_races(warp, lane, *spot.races, address + lane * stride, bytes, touch, is_strong);
  result.is_global.fill(spot.is_global);
  result.is_contiguous = is_contiguous;
  result.all_known = spot.states == nullptr || all_are_known(spot.states, total);
  return true;
}

void place_lane(Warp& warp, unsigned lane, Space named, std::uint64_t address, unsigned bytes,
                Touch touch, bool is_strong, Places& result) {
  auto const space = space_of(named, address);
  if (address % bytes != 0)
    complain(warp, lane, fmt::format("address {:#x} is not aligned to {} bytes", address, bytes));
  auto const spot = find_spot(warp, lane, space, address, bytes, touch);
  if (spot.at == nullptr) complain(warp, lane, why_nothing(warp, space, address, bytes, touch));
  if (spot.races != nullptr) touch_races(warp, lane, *spot.races, address, bytes, touch, is_strong);
  result.at[lane] = spot.at;
  result.states[lane] = spot.states;
  result.is_global[lane] = spot.is_global;
}

template <class T>
void gather_as(void* to, Places const& places, Lanes mask, unsigned first) {
  for_each_lane(mask, [&](unsigned lane) {
    std::memcpy(static_cast<T*>(to) + lane, places.at[lane] + first, sizeof(T));
  });
}
template <class T>
void scatter_as(Places const& places, void const* from, Lanes mask, unsigned first) {
  for_each_lane(mask, [&](unsigned lane) {
    std::memcpy(places.at[lane] + first, static_cast<T const*>(from) + lane, sizeof(T));
  });
}

// Notes which global bytes are unknown now, or forgets that they were.
void note_output(Warp& warp, unsigned lane, std::uint64_t address, std::uint8_t const* states,
                 unsigned bytes, bool is_known) {
  auto& outputs = warp.block->run.unknown_outputs;
  if (is_known) return;
  if (states == nullptr)
    complain(warp, lane, "what is stored was never written, and this memory must be known");
  outputs[address] = {states, bytes,
                      "what is stored was never written, and stays: " + place_of(warp, lane)};
}

}  // namespace

Places place(Warp& warp, Address const& address, Lanes mask, unsigned bytes, Touch touch,
             bool is_strong) {
  need_known(warp, address.slot, mask, "the address");
  Places result;
  auto const addresses = addresses_of(warp, address);
  result.address = addresses;
  if (mask == kAllLanes &&
      place_together(warp, addresses, address.space, bytes, touch, is_strong, result))
    return result;
  for_each_lane(mask, [&](unsigned lane) {
    place_lane(warp, lane, address.space, addresses[lane], bytes, touch, is_strong, result);
  });
  return result;
}

Places place_one(Warp& warp, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                 Touch touch, bool is_strong) {
  Places result;
  result.address[lane] = address;
  place_lane(warp, lane, space, address, bytes, touch, is_strong, result);
  return result;
}

Lanes known_lanes(Warp const& warp, Places const& places, Lanes mask, unsigned first,
                  unsigned bytes) {
  if (places.all_known) return mask;
  Lanes result = 0;
  for_each_lane(mask, [&](unsigned lane) {
    auto const* const states = places.states[lane];
    if (states == nullptr || all_are_known(states + first, bytes)) {
      result |= Lanes{1} << lane;
    } else if (std::find(states + first, states + first + bytes, kUnderWay) !=
               states + first + bytes) {
      complain(warp, lane, "reads bytes of a cp.async that is still under way");
    }
  });
  return result;
}

void gather(void* to, Places const& places, Lanes mask, unsigned first, unsigned bytes) {
  switch (bytes) {
    case 1:
      return gather_as<std::uint8_t>(to, places, mask, first);
    case 2:
      return gather_as<std::uint16_t>(to, places, mask, first);
    case 4:
      return gather_as<std::uint32_t>(to, places, mask, first);
    default:
      return gather_as<std::uint64_t>(to, places, mask, first);
  }
}

void scatter(Places const& places, void const* from, Lanes mask, unsigned first, unsigned bytes) {
  switch (bytes) {
    case 1:
      return scatter_as<std::uint8_t>(places, from, mask, first);
    case 2:
      return scatter_as<std::uint16_t>(places, from, mask, first);
    case 4:
      return scatter_as<std::uint32_t>(places, from, mask, first);
    default:
      return scatter_as<std::uint64_t>(places, from, mask, first);
  }
}

void set_states(Warp& warp, Places const& places, Lanes mask, Lanes known, unsigned first,
                unsigned bytes) {
  if (places.all_known && (mask & ~known) == 0) return;
  for_each_lane(mask, [&](unsigned lane) {
    bool const is_known = (known >> lane & 1) != 0;
    auto* const states = places.states[lane];
    if (states != nullptr) std::memset(states + first, is_known ? kKnown : kUnknown, bytes);
    if (places.is_global[lane])
      note_output(warp, lane, places.address[lane] + first,
                  states == nullptr ? nullptr : states + first, bytes, is_known);
  });
}

}  // namespace spillway::test::ptx
