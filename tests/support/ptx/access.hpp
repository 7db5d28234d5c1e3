// Finds the bytes that lanes touch, and makes sure that they may.
#pragma once

#include <array>

#include "tests/support/ptx/spots.hpp"

namespace spillway::test::ptx {

// Where lanes touch memory.
struct Places {
  std::array<std::byte*, kLanes> at = {};
  std::array<std::uint8_t*, kLanes> states = {};  // a ByteState a byte; null: all are known
  std::array<std::uint64_t, kLanes> address = {};
  std::array<bool, kLanes> is_global = {};
  bool is_contiguous = false;  // all lanes, one behind the other
  bool all_known = false;      // whether that was seen at once
};

// An address of a lane is what stands in `slot` and `offset`.
struct Address {
  Slot slot = kZeros;
  unsigned bytes = 8;  // of the address itself
  std::int64_t offset = 0;
  Space space = Space::generic;
};
inline Address address_of(Operation const& operation) {
  return {operation.address, operation.address_bytes, operation.offset, operation.space};
}

// Complains about addresses that are unknown, misaligned, outside of what the launch may touch, or
// touched by another thread without order.
Places place(Warp& warp, Address const& address, Lanes mask, unsigned bytes, Touch touch,
             bool is_strong);
// The same for one lane, at an address that is known and need not be aligned.
Places place_part(Warp& warp, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                  Touch touch);

// Which lanes find known bytes at `first` of their places. Complains if a copy is under way there.
Lanes known_lanes(Warp const& warp, Places const& places, Lanes mask, unsigned first,
                  unsigned bytes);
// Copies an element of each lane's place to or from a buffer of 32 such elements.
void gather(void* to, Places const& places, Lanes mask, unsigned first, unsigned bytes);
void scatter(Places const& places, void const* from, Lanes mask, unsigned first, unsigned bytes);
// Complains if a copy is under way to any of these bytes.
void need_none_under_way(Warp const& warp, unsigned lane, std::uint8_t const* states,
                         unsigned bytes, std::string_view does);
// Says of which lanes the elements that were stored are known.
void set_states(Warp& warp, Places const& places, Lanes mask, Lanes known, unsigned first,
                unsigned bytes);

}  // namespace spillway::test::ptx
