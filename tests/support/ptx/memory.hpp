// A Memory is the global memory of a launch: ranges of device addresses, and where their bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spillway::test::ptx {

// Says what is known of a byte. It is unknown until it is written, and if an unknown value is
// written; such a value may be copied and computed with, but decide nothing (warp.hpp: need_known).
// It is under way from a cp.async until the thread waits for that copy.
enum ByteState : std::uint8_t { kUnknown = 0, kKnown = 1, kUnderWay = 2 };

inline bool all_are_known(std::uint8_t const* states, std::size_t bytes) {
  std::uint8_t differ = 0;
  for (std::size_t i = 0; i < bytes; ++i) differ |= states[i] ^ kKnown;
  return differ == 0;
}

struct Region {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;
  // Has a ByteState for each byte, or is null if all are known and must stay so.
  std::uint8_t* states = nullptr;
  bool may_read = true, may_write = true;
  std::string name = {};

  bool holds(std::uint64_t first, std::size_t n) const {
    return first >= address && n <= bytes && first - address <= bytes - n;
  }
};

class Memory {
 public:
  void add(Region region);  // throws std::logic_error if it overlaps another one
  void remove(std::uint64_t address);
  // Returns the region that has all these bytes, or null.
  Region const* find(std::uint64_t address, std::size_t bytes) const;
  // Says where an address is: in which region, or how far behind which.
  std::string describe(std::uint64_t address) const;

 private:
  // Returns the last region that begins at this address or before it, or null.
  Region const* last_up_to(std::uint64_t address) const;

  std::vector<Region> m_regions;  // is sorted by address
};

}  // namespace spillway::test::ptx
