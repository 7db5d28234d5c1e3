// Work that a device does by itself: in a Stream, with Events as marks in it.
#pragma once

#include "device/bytes.hpp"

namespace spillway {

// A mark in a Stream. It can be recorded again and again; who asks or waits means the latest record
// that was made before. Two threads may use it at once.
class Event {
 public:
  virtual ~Event() = default;
  // Returns whether all work before the latest record has ended, or true if there is no record.
  virtual bool done() const = 0;
  // Returns the seconds from the record of `earlier` to this one's; both must be done.
  virtual double seconds_since(Event const& earlier) const = 0;
};

// A queue of work. Each piece begins after the end of the one before. All functions return at once,
// throw Error(device) and allocate no memory of the device. Only one thread at a time may use a
// Stream. The destructor waits for the end of its work.
class Stream {
 public:
  virtual ~Stream() = default;

  // Both sides have equally many bytes and do not overlap. The host's bytes must be pinned, and
  // others must leave them alone until the copy has ended.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;  // both may come from Device::on_device
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  virtual void record(Event& event) = 0;
  // What comes later in this stream begins after the latest record of `event`, which must have been
  // made before this call: a stream that waits for a record to come could wait forever.
  virtual void wait(Event const& event) = 0;

  // Returns the backend's own handle (a cudaStream_t), on which its kernels are launched.
  virtual void* handle() const = 0;
};

}  // namespace spillway
