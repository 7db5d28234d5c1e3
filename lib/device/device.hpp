// A Device is what the compute lane runs on: its memory, and copies to and from it.
#pragma once

#include <memory>
#include <string>

#include "device/bytes.hpp"

namespace spillway {

// Holds the device tier: addresses reserved once, of which a planned part is usable.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Makes bytes [0, bytes) usable and gives the rest back. Bytes that were not usable before are
  // zero. Addresses do not change. Must not be called while anything runs. Throws
  // Error(cannot_fit).
  virtual void commit(std::int64_t bytes) = 0;
  // Returns bytes [offset, offset + bytes), which must be usable (assert).
  virtual DeviceBytes at(std::int64_t offset, std::int64_t bytes) const = 0;
  virtual std::int64_t bytes() const = 0;           // how many bytes are usable
  virtual std::int64_t reserved_bytes() const = 0;  // how many bytes may become usable
};

// Copies and fills have ended when they return.
class Device {
 public:
  virtual ~Device() = default;

  // Says whether the device has memory of its own. If not, device memory is main memory.
  virtual bool has_own_memory() const = 0;
  // Commits `bytes`, and reserves addresses for `reserve_bytes` if there are as many. `name` is for
  // messages. Throws Error(cannot_fit).
  virtual std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                                std::int64_t reserve_bytes) = 0;

  // Both sides of a copy have equally many bytes and do not overlap.
  virtual void copy(DeviceBytes to, HostBytes from) const = 0;
  virtual void copy(HostBytes to, DeviceBytes from) const = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) const = 0;
  virtual void fill(DeviceBytes bytes, std::byte value) const = 0;

  // Returns device bytes as main memory. Throws std::logic_error if the device has its own memory.
  virtual HostBytes on_host(DeviceBytes bytes) const = 0;
  // Returns the address by which kernels on the device reach bytes of the host tier.
  virtual void* operand(HostBytes bytes) const = 0;
};

}  // namespace spillway
