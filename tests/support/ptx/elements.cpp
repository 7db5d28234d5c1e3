// Reads and writes what lies at the places that lanes touch, and whether it is known.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/support/ptx/access.hpp"

namespace spillway::test::ptx {
namespace {

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

// Notes that something unknown was stored to global memory, for a look when the launch ends.
void note_output(Warp& warp, unsigned lane, std::uint64_t address, std::uint8_t const* states,
                 unsigned bytes) {
  if (states == nullptr)
    complain(warp, lane, "what is stored was never written, and this memory must be known");
  warp.block->run.unknown_outputs[address] = {states, bytes, place_of(warp, lane)};
}

}  // namespace

void need_none_under_way(Warp const& warp, unsigned lane, std::uint8_t const* states,
                         unsigned bytes, std::string_view does) {
  if (std::find(states, states + bytes, kUnderWay) != states + bytes)
    complain(warp, lane, fmt::format("{} bytes of a cp.async that is still under way", does));
}

Lanes known_lanes(Warp const& warp, Places const& places, Lanes mask, unsigned first,
                  unsigned bytes) {
  if (places.all_known) return mask;
  Lanes result = 0;
  for_each_lane(mask, [&](unsigned lane) {
    auto const* const states = places.states[lane];
    if (states == nullptr || all_are_known(states + first, bytes)) {
      result |= Lanes{1} << lane;
    } else {
      need_none_under_way(warp, lane, states + first, bytes, "reads");
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
    if (states != nullptr) {
      need_none_under_way(warp, lane, states + first, bytes, "writes");
      std::memset(states + first, is_known ? kKnown : kUnknown, bytes);
    }
    if (places.is_global[lane] && !is_known)
      note_output(warp, lane, places.address[lane] + first,
                  states == nullptr ? nullptr : states + first, bytes);
  });
}

}  // namespace spillway::test::ptx
