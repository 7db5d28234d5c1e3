#include "tests/support/ptx/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace spillway::test::ptx {
namespace {

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
  Stamp const now{warp.epoch, lane, warp.number(), is_strong, warp.time[lane]};
  Toucher const toucher{now, block.first_epoch, &warp.seen[lane], &warp.past,
                        touch == Touch::write};
  if (auto const race = races.touch(address, bytes, toucher))
    complain(warp, lane, describe(block.run, *race, toucher));
}

bool are_apart_by(Addresses const& addresses, std::uint64_t bytes) {
  std::uint64_t differ = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    differ |= addresses[lane] ^ (addresses[0] + lane * bytes);
  return differ == 0;
}

// Finds the places of all lanes with one look, as most accesses need no more. Returns false if each
// lane must be looked at by itself.
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
  // Races keeps two readers of a byte, so of many lanes that read the same bytes it is told of two.
  auto const step = is_contiguous ? 1 : kLanes - 1;
  if (spot.races != nullptr)
    for (unsigned lane = 0; lane < kLanes; lane += step)
      touch_races(warp, lane, *spot.races, address + lane * stride, bytes, touch, is_strong);
  result.is_global.fill(spot.is_global);
  result.all_known = spot.states == nullptr || all_are_known(spot.states, total);
  return true;
}

void place_lane(Warp& warp, unsigned lane, Space named, std::uint64_t address, unsigned bytes,
                Touch touch, bool is_strong, Places& result) {
  auto const space = space_of(named, address);
  auto const spot = find_spot(warp, lane, space, address, bytes, touch);
  if (spot.at == nullptr) complain(warp, lane, why_no_spot(warp, space, address, bytes, touch));
  if (spot.races != nullptr) touch_races(warp, lane, *spot.races, address, bytes, touch, is_strong);
  result.at[lane] = spot.at;
  result.states[lane] = spot.states;
  result.is_global[lane] = spot.is_global;
}

}  // namespace

Addresses addresses_of(Warp const& warp, Address const& address) {
  alignas(64) Addresses result;
  auto const offset = static_cast<std::uint64_t>(address.offset);
  auto const* const wide = warp.lanes<std::uint64_t const>(address.slot);
  auto const* const narrow = warp.lanes<std::uint32_t const>(address.slot);
  if (address.register_bytes == 8)
    for (unsigned lane = 0; lane < kLanes; ++lane) result[lane] = wide[lane] + offset;
  else
    for (unsigned lane = 0; lane < kLanes; ++lane) result[lane] = narrow[lane] + offset;
  return result;
}

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
    if (addresses[lane] % bytes != 0)
      complain(warp, lane,
               fmt::format("address {:#x} is not aligned to {} bytes", addresses[lane], bytes));
    place_lane(warp, lane, address.space, addresses[lane], bytes, touch, is_strong, result);
  });
  return result;
}

Places place_part(Warp& warp, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                  Touch touch) {
  Places result;
  result.address[lane] = address;
  place_lane(warp, lane, space, address, bytes, touch, false, result);
  return result;
}

}  // namespace spillway::test::ptx
