// A Device is what the compute lane runs on. It has memory and does work in streams.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/bytes.hpp"
#include "device/stream.hpp"

namespace spillway {

// A DeviceMemory is the memory of the device tier. Its addresses are reserved once, and the first
// ones are usable.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Makes the first `bytes` bytes usable and gives the memory of all others back. Bytes that become
  // usable are zero. Addresses do not change. Nothing may use the memory during the call. Throws
  // Error(cannot_fit) if the device has too little memory.
  virtual void commit(std::int64_t bytes) = 0;
  // Returns bytes [offset, offset + bytes). Throws std::logic_error unless all of them are usable.
  virtual DeviceBytes at(std::int64_t offset, std::int64_t bytes) const = 0;
  virtual std::int64_t bytes() const = 0;           // how many bytes are usable
  virtual std::int64_t reserved_bytes() const = 0;  // how many bytes may become usable
};

// A Pinned keeps main memory pinned while it exists, so that streams can copy from and to it.
class Pinned {
 public:
  virtual ~Pinned() = default;
};

struct DeviceProperties {
  std::string name;                // for people to read, such as "NVIDIA H100 80GB HBM3"
  std::string id;                  // unique among the devices of the machine
  std::string target;              // what kernels are compiled for, such as "host" or "sm_90"
  std::string software = {};       // the versions of its driver and its library, or ""
  std::int64_t memory_bytes = 0;   // the size of the device's own memory; 0 if it has none
  std::int64_t free_bytes = 0;     // how much of memory_bytes is free now
  std::int64_t compute_units = 0;  // the number of cores or multiprocessors
  int numa_node = -1;              // the NUMA node whose main memory is nearest; -1 if none is
};

// All objects that a Device has made must be destroyed before the Device. After a failure of the
// device, all functions may throw Error(device).
class Device {
 public:
  virtual ~Device() = default;

  // Returns whether the device has memory of its own. If it has none, device memory is main memory.
  virtual bool has_own_memory() const = 0;
  virtual DeviceProperties properties() const = 0;

  // Returns memory of which the first `bytes` bytes are usable, and reserves addresses for
  // `reserve_bytes` bytes if the system gives so many. Messages contain `name`. Throws
  // Error(cannot_fit) if `bytes` bytes are not available.
  virtual std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                                std::int64_t reserve_bytes) = 0;
  // Pins `bytes`, which must be whole pages. Returns null if there are none or the device needs no
  // pinning. Throws Error(cannot_fit) if the system refuses.
  virtual std::unique_ptr<Pinned> pin(HostBytes bytes) = 0;

  // Streams and events must be made before step 0. stream() and event() return null for a device
  // that works synchronously, such as the host device. Work in `urgent` streams goes before work in
  // other streams.
  virtual std::unique_ptr<Stream> stream(bool urgent) = 0;
  virtual std::unique_ptr<Event> event() = 0;

  // copy() and fill() return when their work has ended. They are meant for times when no Program
  // runs, and main memory need not be pinned for them. Both sides of a copy must have equally many
  // bytes and must not overlap.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  // Returns `bytes` as main memory. Throws std::logic_error if the device has its own memory.
  virtual HostBytes on_host(DeviceBytes bytes) const = 0;
  // Returns `bytes`, which are of the host tier, with the address at which kernels on the device
  // find them. The bytes must be pinned if the device needs pinning.
  virtual DeviceBytes on_device(HostBytes bytes) const = 0;

  // Throws Error(device) if the device has failed, or if work that the calling thread launched has
  // failed since the last call.
  virtual void check() = 0;
};

}  // namespace spillway
