// Knows the memory that the program has from cudaMalloc and its like: memory of a device, pinned
// main memory, or managed memory, which both reach.
#pragma once

#include <driver_types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda/address_range.hpp"
#include "tests/support/cuda/device_memory.hpp"

namespace spillway::test::cuda {

struct Allocation {
  enum class Kind { device, pinned, managed };
  Kind kind = Kind::device;
  int device = 0;
  std::int64_t bytes = 0;           // is what was asked for
  std::int64_t reserved_bytes = 0;  // is in whole granules or pages; nobody may touch the rest
};

class Allocations {
 public:
  // Returns the address of new memory, or 0 if there is no more.
  std::uintptr_t add(SimulatedMemory& memory, Allocation::Kind kind, int device,
                     std::int64_t bytes);
  void remove(SimulatedMemory& memory, std::uintptr_t first);
  void remove_all(SimulatedMemory& memory);

  // Returns the allocation that begins at this address, or null.
  Allocation const* find(std::uintptr_t first) const;
  // Returns the allocation in whose reserved bytes this address is, and where it begins.
  std::pair<std::uintptr_t, Allocation const*> around(std::uintptr_t address) const;
  // Returns whether these bytes lie in no allocation, or in what was asked for of one.
  bool allow(AddressRange const& range) const;
  // Returns whether one managed allocation has all of these bytes.
  bool is_managed(AddressRange const& range) const;
  std::map<std::uintptr_t, Allocation> const& all() const { return m_all; }
  std::vector<std::string> leftovers() const;

 private:
  std::map<std::uintptr_t, Allocation> m_all;
};

}  // namespace spillway::test::cuda
