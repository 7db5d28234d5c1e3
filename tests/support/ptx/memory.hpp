// The global memory of a launch: ranges of device addresses, and where their bytes really are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spillway::test::ptx {

// What is known of a byte.
enum ByteState : std::uint8_t {
  kUnknown = 0,  // nothing was written, or what was written was itself unknown
  kKnown = 1,
  kUnderWay = 2  // a cp.async will write it
};

inline bool all_are_known(std::uint8_t const* states, std::size_t bytes) {
  std::uint8_t differ = 0;
  for (std::size_t i = 0; i < bytes; ++i) differ |= states[i] ^ kKnown;
  return differ == 0;
}

struct Region {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::byte* host = nullptr;
  std::uint8_t* states = nullptr;  // a ByteState for each byte; null: all are known, and stay so
  bool may_read = true, may_write = true;
  std::string name = {};

  bool holds(std::uint64_t first, std::size_t n) const {
    return first >= address && n <= bytes && first - address <= bytes - n;
  }
};

class Memory {
 public:
  void add(Region region);  // which overlaps no other
  void remove(std::uint64_t address);
  // The region that has all these bytes, or null.
  Region const* find(std::uint64_t address, std::size_t bytes) const;
  // Says where an address is: in which region, or how far behind which.
  std::string describe(std::uint64_t address) const;

 private:
  Region const* last_before(std::uint64_t address) const;  // or at it

  std::vector<Region> m_regions;  // by address
};

}  // namespace spillway::test::ptx
