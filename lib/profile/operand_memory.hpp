// Memory for the operands of ops that are measured.
#pragma once

#include <cstdint>
#include <memory>

#include "base/pages.hpp"
#include "device/device.hpp"

namespace spillway {

// Holds bytes of main memory or, if `device` is not null and has memory of its own, of its memory.
class OperandMemory {
 public:
  explicit OperandMemory(Device* device = nullptr)
      : m_device(device != nullptr && device->has_own_memory() ? device : nullptr) {}

  // Makes at least so many bytes usable; those from before are lost. Nothing may be using them.
  // Throws Error(cannot_fit).
  void need(std::int64_t bytes);
  // Returns the address by which kernels reach a byte.
  void* at(std::int64_t offset) const;
  // Writes `pattern` again and again into [offset, offset + bytes). Ends before it returns.
  void repeat(HostBytes pattern, std::int64_t offset, std::int64_t bytes);

 private:
  Device* m_device;
  Pages m_pages;                          // if m_device is null
  std::unique_ptr<DeviceMemory> m_there;  // else
};

}  // namespace spillway
