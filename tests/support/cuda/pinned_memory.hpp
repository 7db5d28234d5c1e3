// Knows which main memory the program has registered with CUDA, so that the device reaches it.
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
  bool holds(AddressRange const& range) const;    // whether one registered range has all of it
  bool touches(AddressRange const& range) const;  // whether a registered one overlaps it
  std::vector<AddressRange> ranges() const;
  std::vector<std::string> leftovers() const;

 private:
  std::map<std::uintptr_t, std::int64_t> m_all;
};

}  // namespace spillway::test::cuda
