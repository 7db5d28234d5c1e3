// Simulates device memory under the rules of CUDA's virtual memory: addresses are reserved, memory
// is created and mapped to addresses, then access is allowed. Every range of addresses exists
// twice: callers have the one that traps, and the stand-in touches its shadow. Behind the shadow of
// a reservation are the states of its bytes (ptx::ByteState), of which new memory has none known.
#pragma once

#include <cuda.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cuda/address_range.hpp"
#include "tests/support/cuda/device_pages.hpp"

namespace spillway::test::cuda {

class SimulatedMemory {
 public:
  static constexpr std::int64_t kGranularity = std::int64_t{2} << 20;

  // Sets the size of each device's memory. Other programs have taken `taken_bytes` of it.
  void set_total(std::int64_t bytes, std::int64_t taken_bytes) {
    m_total = bytes;
    m_taken = taken_bytes;
  }
  std::int64_t total() const { return m_total; }
  std::int64_t free(int device) const;

  // These do what the functions cuMem... of CUDA's driver do, such as cuMemAddressReserve. They
  // complain about what CUDA forbids, and return its error.
  CUresult reserve(CUdeviceptr* address, std::int64_t bytes);
  CUresult free_addresses(AddressRange const& range);
  CUresult create(CUmemGenericAllocationHandle* handle, std::int64_t bytes, int device);
  CUresult release(CUmemGenericAllocationHandle handle);
  CUresult map(AddressRange const& range, CUmemGenericAllocationHandle handle);
  CUresult unmap(AddressRange const& range);
  CUresult allow(AddressRange const& range, int device, bool access);

  void give_all_back();

  bool is_device(std::uintptr_t address) const;  // returns whether the address is reserved
  // Returns whether the device may access the whole range.
  bool accessible(AddressRange const& range) const;
  // Returns whether all mapped bytes of the range are memory of this device, not of another one.
  bool is_of(int device, AddressRange const& range) const;
  // These return the shadow of the byte at a reserved address and its state, or else null.
  std::byte* shadow(std::uintptr_t address) const;
  std::uint8_t* states(std::uintptr_t address) const;

  // A Stretch is a range of addresses without gaps that a device may access, and its shadow.
  struct Stretch {
    AddressRange range;
    std::byte* shadow;
    std::uint8_t* states;
  };
  std::vector<Stretch> stretches(int device) const;
  std::vector<std::string> leftovers() const;

 private:
  struct Mapping {
    std::int64_t bytes;
    std::shared_ptr<DevicePages> memory;
    bool access = false;
  };
  struct Reservation {
    std::int64_t bytes;
    std::byte* shadow;
    std::map<std::uintptr_t, Mapping> mappings;
  };
  using Reservations = std::map<std::uintptr_t, Reservation>;

  Reservations::const_iterator find(AddressRange const& range) const;
  Reservation* find_reservation(AddressRange const& range);
  // Returns the mappings that together are exactly this range, or none.
  std::vector<Mapping*> mappings_of(AddressRange const& range);

  std::int64_t m_total = std::int64_t{1} << 30, m_taken = 0;
  Reservations m_reservations;
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<DevicePages>> m_handles;
  std::vector<std::weak_ptr<DevicePages>> m_memory;
  CUmemGenericAllocationHandle m_next_handle = 1;
};

}  // namespace spillway::test::cuda
