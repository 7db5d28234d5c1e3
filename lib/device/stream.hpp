// A Stream makes a device work asynchronously, and an Event marks a moment in that work.
#pragma once

#include "device/bytes.hpp"

namespace spillway {

// An Event marks a moment in the work of a Stream. It can be recorded again and again; functions
// that ask or wait for it mean the latest record before their call. Two threads may use an Event at
// the same time.
class Event {
 public:
  virtual ~Event() = default;
  // Returns whether all work before the latest record has ended, or true if there is no record.
  virtual bool done() const = 0;
  // Returns the seconds from the record of `earlier` to the record of this event. Both events must
  // be done.
  virtual double seconds_since(Event const& earlier) const = 0;
};

// A Stream is a queue of work. Work begins when all work that was added before it has ended. All
// functions return at once, allocate no memory of the device, and throw Error(device) if the device
// has failed. Only one thread at a time may use a Stream. The destructor waits for all work.
class Stream {
 public:
  virtual ~Stream() = default;

  // Both sides of a copy must have equally many bytes and must not overlap. Main memory must be
  // pinned, and nobody else may use its bytes until the copy has ended. Bytes that
  // Device::on_device has returned may be copied as DeviceBytes, too.
  virtual void copy(DeviceBytes to, HostBytes from) = 0;
  virtual void copy(HostBytes to, DeviceBytes from) = 0;
  virtual void copy(DeviceBytes to, DeviceBytes from) = 0;
  virtual void fill(DeviceBytes bytes, std::byte value) = 0;

  virtual void record(Event& event) = 0;
  // Work that is added later begins after all work before the latest record of `event`, which must
  // have been made before this call: a stream that waits for a future record could wait forever.
  virtual void wait(Event const& event) = 0;

  // Returns the handle of the stream in the device's library, such as a cudaStream_t.
  virtual void* handle() const = 0;
};

}  // namespace spillway
