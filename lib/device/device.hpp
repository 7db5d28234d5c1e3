// A Device is what the compute lane runs on: its memory, and work in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/bytes.hpp"
#include "device/stream.hpp"

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

// Keeps main memory where it is, so that streams can copy from and to it; ends with this object.
class Pinned {
 public:
  virtual ~Pinned() = default;
};

struct DeviceProperties {
  std::string name;                // for people: "cpu", "NVIDIA H100 80GB HBM3"
  std::string id;                  // no other device of the machine has it
  std::string target;              // what kernels are made for: "host", "sm_90"
  std::int64_t memory_bytes = 0;   // of its own; 0 if it has none
  std::int64_t free_bytes = 0;     // of memory_bytes, now
  std::int64_t compute_units = 0;  // cores, or multiprocessors
  int numa_node = -1;              // of main memory that is near it; -1: none is nearer
};

// What a Device makes must end before it does. A failure of the device ends every use of it: all
// functions may then throw Error(device).
class Device {
 public:
  virtual ~Device() = default;

  // Says whether the device has memory of its own. If not, device memory is main memory.
  virtual bool has_own_memory() const = 0;
  virtual DeviceProperties properties() const = 0;

  // Commits `bytes`, and reserves addresses for `reserve_bytes` if there are as many. `name` is for
  // messages. Throws Error(cannot_fit).
  virtual std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                                std::int64_t reserve_bytes) = 0;
  // `bytes` are whole pages. Returns null if the device needs no pinning. Throws Error(cannot_fit).
  virtual std::unique_ptr<Pinned> pin(HostBytes bytes) = 0;

  // Streams and events are made before step 0. Both functions return null if work on the device has
  // ended when the call that does it returns. Of streams with work to do, `urgent` ones go first.
  virtual std::unique_ptr<Stream> stream(bool urgent) = 0;
  virtual std::unique_ptr<Event> event() = 0;

  // These have ended when they return, and the host's bytes need not be pinned. They are for times
  // when nothing runs. Both sides have equally many bytes and do not overlap.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  // Returns device bytes as main memory. Throws std::logic_error if the device has its own memory.
  virtual HostBytes on_host(DeviceBytes bytes) const = 0;
  // Returns the address by which kernels on the device reach bytes of the host tier, which are
  // pinned.
  virtual DeviceBytes on_device(HostBytes bytes) const = 0;

  // Throws Error(device) if the device has failed since the last call, whatever failed.
  virtual void check() = 0;
};

}  // namespace spillway
