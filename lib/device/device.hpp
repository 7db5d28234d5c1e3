// A Device is what the compute lane runs on. It has memory and does work in streams.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/bytes.hpp"
#include "device/stream.hpp"

namespace spillway {

// A DeviceMemory holds the device tier: addresses that are reserved once, of which the first ones
// are usable.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Makes bytes [0, bytes) usable and gives the rest back. Bytes that were not usable before are
  // zero. Addresses do not change. Must not be called while anything runs. Throws
  // Error(cannot_fit).
  virtual void commit(std::int64_t bytes) = 0;
  // Returns bytes [offset, offset + bytes), which must be usable; if they are not, an assertion
  // fails.
  virtual DeviceBytes at(std::int64_t offset, std::int64_t bytes) const = 0;
  virtual std::int64_t bytes() const = 0;           // how many bytes are usable
  virtual std::int64_t reserved_bytes() const = 0;  // how many bytes may become usable
};

// A Pinned keeps main memory pinned while it lives, so that streams can copy from and to it.
class Pinned {
 public:
  virtual ~Pinned() = default;
};

struct DeviceProperties {
  std::string name;                // for people to read: "cpu", "NVIDIA H100 80GB HBM3"
  std::string id;                  // differs from the id of every other device of the machine
  std::string target;              // what kernels must be made for: "host", "sm_90"
  std::int64_t memory_bytes = 0;   // the size of its own memory; 0 if it has none
  std::int64_t free_bytes = 0;     // how much of memory_bytes is free now
  std::int64_t compute_units = 0;  // the number of cores or multiprocessors
  int numa_node = -1;              // the NUMA node of main memory near it; -1 if none is nearer
};

// Whatever a Device has made must be destroyed before the Device. After a failure of the device,
// all functions may throw Error(device).
class Device {
 public:
  virtual ~Device() = default;

  // Returns whether the device has memory of its own. If not, device memory is main memory.
  virtual bool has_own_memory() const = 0;
  virtual DeviceProperties properties() const = 0;

  // Returns memory of which `bytes` are usable, and reserves addresses for `reserve_bytes` if there
  // are so many. Messages contain `name`. Throws Error(cannot_fit).
  virtual std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                                std::int64_t reserve_bytes) = 0;
  // Pins `bytes`, which must be whole pages. Returns null if the device needs no pinning. Throws
  // Error(cannot_fit).
  virtual std::unique_ptr<Pinned> pin(HostBytes bytes) = 0;

  // Streams and events are made before step 0. `stream` and `event` return null if a device's work
  // has always ended when the call that asks for it returns, as on the host device. Work in
  // `urgent` streams goes before work in others.
  virtual std::unique_ptr<Stream> stream(bool urgent) = 0;
  virtual std::unique_ptr<Event> event() = 0;

  // `copy` and `fill` return when their work has ended, and the host's bytes need not be pinned.
  // They are for times when no Program runs. Both sides must have equally many bytes and must not
  // overlap.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  // Returns device bytes as main memory. Throws std::logic_error if the device has its own memory.
  virtual HostBytes on_host(DeviceBytes bytes) const = 0;
  // Returns the address by which kernels on the device reach bytes of the host tier, which must be
  // pinned if the device needs that.
  virtual DeviceBytes on_device(HostBytes bytes) const = 0;

  // Throws Error(device) if any work of the device has failed since the last call.
  virtual void check() = 0;
};

}  // namespace spillway
