// Main memory that is registered, so that the device reaches it.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

class PinnedMemory {
 public:
  cudaError_t add(Range const& range);
  cudaError_t remove(std::uintptr_t first);

  Range find(std::uintptr_t first) const;  // the registration that begins there, or an empty range
  bool holds(Range const& range) const;    // wholly, within one registration
  bool touches(Range const& range) const;  // at least in part
  std::vector<std::string> leftovers() const;

 private:
  std::map<std::uintptr_t, std::int64_t> m_all;
};

}  // namespace spillway::test::cuda
