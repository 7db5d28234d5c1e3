// Defines one type for bytes that the host may access, and one for bytes that perhaps only a device
// may access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "base/check.hpp"

namespace spillway {

// HostBytes are bytes of main memory.
using HostBytes = std::span<std::byte>;

// DeviceBytes may lie in a device's own memory. The host must not access them: a Device copies
// them, and kernels get their address as an operand.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  DeviceBytes(void* address, std::int64_t bytes) : m_address(address), m_bytes(bytes) {}

  std::int64_t size() const { return m_bytes; }
  void* operand() const { return m_address; }
  // Returns the bytes [first, first + bytes) of this range. Throws std::logic_error if the range
  // does not have them.
  DeviceBytes part(std::int64_t first, std::int64_t bytes) const {
    check(first >= 0 && bytes >= 0 && first + bytes <= m_bytes, "bytes of a device",
          "a part reaches beyond their end");
    return {static_cast<std::byte*>(m_address) + first, bytes};
  }

 private:
  void* m_address = nullptr;
  std::int64_t m_bytes = 0;
};

// MemoryBytes are bytes of the device tier or the host tier, not of a drive.
using MemoryBytes = std::variant<HostBytes, DeviceBytes>;

}  // namespace spillway
