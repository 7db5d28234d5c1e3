// Knows which main memory the program has registered with CUDA, so that the device reaches it. All
// its bytes are known, except for those that a copy of unknown bytes has put there: these stay
// unknown until the host changes them, which is seen by their values.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda/address_range.hpp"

namespace spillway::test::cuda {

class PinnedMemory {
 public:
  cudaError_t add(AddressRange const& range);
  cudaError_t remove(std::uintptr_t first);

  // Returns the registered range that begins at this address, or an empty one.
  AddressRange find(std::uintptr_t first) const;
  // These return whether one registered range has all of this one, and whether any overlaps it.
  bool holds(AddressRange const& range) const;
  bool touches(AddressRange const& range) const;
  std::vector<AddressRange> ranges() const;
  // Returns the states of bytes of one registered range (ptx::ByteState), or null if all are known.
  std::uint8_t* states(AddressRange const& range) const;
  // From now on keeps states of the registered range that has these bytes.
  void keep_states(AddressRange const& range);
  std::vector<std::string> leftovers() const;

 private:
  struct Registered {
    std::int64_t bytes = 0;
    std::vector<std::uint8_t> states = {};  // is empty if all are known
  };

  Registered const* around(AddressRange const& range, std::uintptr_t& first) const;

  std::map<std::uintptr_t, Registered> m_all;
};

// Of unknown bytes in main memory, makes those known that the host has changed. Unknown bytes are
// 0xff, and in words of 4 bytes that are all 0xff the host is taken to have changed nothing.
void see_changes(std::byte const* at, std::int64_t bytes, std::uint8_t* states);

}  // namespace spillway::test::cuda
