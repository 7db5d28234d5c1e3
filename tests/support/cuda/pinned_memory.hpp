// Knows which main memory is registered, so that the device reaches it.
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

  // Returns the registration that begins at this address, or an empty range.
  AddressRange find(std::uintptr_t first) const;
  bool holds(AddressRange const& range) const;    // whether one registration has all of it
  bool touches(AddressRange const& range) const;  // whether some registration has a part of it
  std::vector<std::string> leftovers() const;

 private:
  std::map<std::uintptr_t, std::int64_t> m_all;
};

}  // namespace spillway::test::cuda
