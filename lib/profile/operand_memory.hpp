// An OperandMemory is memory for the operands of ops that are measured.
#pragma once

#include <cstdint>
#include <memory>

#include "base/pages.hpp"
#include "device/device.hpp"

namespace spillway {

// An OperandMemory holds bytes of main memory or, if the device in its constructor is not null and
// has memory of its own, bytes of that memory.
class OperandMemory {
 public:
  explicit OperandMemory(Device* device = nullptr)
      : m_device(device != nullptr && device->has_own_memory() ? device : nullptr) {}

  // Returns an OperandMemory of main memory that kernels on the device reach, too.
  static OperandMemory shared_with(Device& device) {
    OperandMemory result;
    result.m_shared_with = &device;
    return result;
  }

  // Makes at least `bytes` bytes usable. Earlier contents are lost, so nothing may be using them.
  // Throws Error(cannot_fit).
  void need(std::int64_t bytes);
  // Returns the address by which kernels reach the byte at `offset`.
  void* at(std::int64_t offset) const;
  // Writes `pattern` again and again into [offset, offset + bytes). The bytes are there when the
  // function returns.
  void repeat(HostBytes pattern, std::int64_t offset, std::int64_t bytes);

 private:
  Device* m_device;
  Device* m_shared_with = nullptr;
  Pages m_pages;                          // used if m_device is null
  std::unique_ptr<Pinned> m_pinned;       // of m_pages, if m_shared_with needs pinning
  std::unique_ptr<DeviceMemory> m_there;  // used if m_device is not null
};

}  // namespace spillway
