// Finds the bytes that an address means.
#pragma once

#include <string>

#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {

enum class Touch : std::uint8_t { read, write };

struct Spot {
  std::byte* at = nullptr;  // is null if nothing may be touched there
  std::uint8_t* states = nullptr;
  Races* races = nullptr;
  bool is_global = false;
};

// Returns the space of an address. A generic address becomes one of that space.
Space space_of(Space named, std::uint64_t& address);

Spot find_spot(Warp& warp, unsigned lane, Space space, std::uint64_t address, std::uint64_t bytes,
               Touch touch);
// Says why find_spot() returned a Spot without bytes.
std::string why_no_spot(Warp const& warp, Space space, std::uint64_t address, unsigned bytes,
                        Touch touch);

}  // namespace spillway::test::ptx
