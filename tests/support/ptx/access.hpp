// Finds the bytes that lanes touch, and makes sure that they may.
#pragma once

#include <array>

#include "tests/support/ptx/spots.hpp"

namespace spillway::test::ptx {

using Addresses = std::array<std::uint64_t, kLanes>;

// Places say where each lane touches memory. Lanes that take no part have none.
struct Places {
  std::array<std::byte*, kLanes> at = {};
  // These point at a ByteState for each byte, or are null where all bytes are known for good.
  std::array<std::uint8_t*, kLanes> states = {};
  Addresses address = {};
  std::array<bool, kLanes> is_global = {};
  bool all_known = false;  // is true only if all bytes of all lanes are known
};

// A lane's address is the value that it has in the register at `slot`, plus `offset`.
struct Address {
  Slot slot = kZeros;
  unsigned register_bytes = 8;
  std::int64_t offset = 0;
  Space space = Space::generic;
};
inline Address address_of(Operation const& operation) {
  return {operation.address, operation.address_bytes, operation.offset, operation.space};
}

// Returns the address of every lane, which may be unknown.
Addresses addresses_of(Warp const& warp, Address const& address);

// Complains about addresses that are unknown, misaligned, outside of what the launch may touch, or
// touched by another thread without order.
Places place(Warp& warp, Address const& address, Lanes mask, unsigned bytes, Touch touch,
             bool is_strong);
// Does so for one lane, at an address that is known and need not be aligned.
Places place_part(Warp& warp, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                  Touch touch);

// Returns the lanes whose bytes from `first` on, in their places, are known. Complains if a copy to
// them is under way.
Lanes known_lanes(Warp const& warp, Places const& places, Lanes mask, unsigned first,
                  unsigned bytes);
// These copy one element of each lane, which lies `first` bytes behind the begin of its place, to
// or from a buffer of 32 such elements.
void gather(void* to, Places const& places, Lanes mask, unsigned first, unsigned bytes);
void scatter(Places const& places, void const* from, Lanes mask, unsigned first, unsigned bytes);
// Complains if a copy is under way to any of these bytes.
void need_none_under_way(Warp const& warp, unsigned lane, std::uint8_t const* states,
                         unsigned bytes, std::string_view does);
// Notes for every lane of the mask that the element which it has stored is known, or that it is
// not.
void set_states(Warp& warp, Places const& places, Lanes mask, Lanes known, unsigned first,
                unsigned bytes);

}  // namespace spillway::test::ptx
