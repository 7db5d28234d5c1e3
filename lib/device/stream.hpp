// A Stream runs work that a device does by itself. Events are marks in it.
#pragma once

#include "device/bytes.hpp"

namespace spillway {

// An Event is a mark in a Stream. It can be recorded again and again; functions that ask or wait
// for it mean the latest record before the call. Two threads may use an Event at once.
class Event {
 public:
  virtual ~Event() = default;
  // Returns whether all work before the latest record has ended, or true if there is no record.
  virtual bool done() const = 0;
  // Returns the seconds from the record of `earlier` to the record of this event. Both must be
  // done.
  virtual double seconds_since(Event const& earlier) const = 0;
};

// A Stream is a queue of work. Each piece of work begins after the one before has ended. All
// functions return at once, throw Error(device) and allocate no memory of the device. Only one
// thread at a time may use a Stream. The destructor waits until all work has ended.
class Stream {
 public:
  virtual ~Stream() = default;

  // Both sides must have equally many bytes and must not overlap. The host's bytes must be pinned,
  // and nobody else may use them until the copy has ended.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;  // also of Device::on_device's bytes
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  virtual void record(Event& event) = 0;
  // Work that is added to this stream later begins after the latest record of `event`. That record
  // must have been made before this call, because a stream that waits for a future record could
  // wait forever.
  virtual void wait(Event const& event) = 0;

  // Returns the backend's own handle (a cudaStream_t), on which its kernels are launched.
  virtual void* handle() const = 0;
};

}  // namespace spillway
