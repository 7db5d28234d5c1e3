// A TransferQueue does many transfers at once between memory and open files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/steady_clock.hpp"

namespace spillway {

enum class Direction : std::uint8_t { read, write };

struct TransferRequest {
  Direction direction = Direction::read;
  int file = -1;                // a file descriptor
  std::span<std::byte> memory;  // not empty; the caller must not use it until the request is done
  std::int64_t offset_bytes = 0;
  std::uint64_t tag = 0;  // chosen by the caller, returned in TransferDone
};

struct TransferDone {
  std::uint64_t tag = 0;
  int error = 0;  // an errno; 0 if all bytes are moved; EIO if the file ends too early
};

// A queue has a fixed number of operations, each of which carries one request to its end: short
// transfers are continued, interrupted ones begun again. Requests finish in any order. Only one
// thread at a time may use it, except for `wake`. Only the constructor and `register_memory`
// allocate.
class TransferQueue {
 public:
  virtual ~TransferQueue() = default;
  TransferQueue(TransferQueue const&) = delete;
  TransferQueue& operator=(TransferQueue const&) = delete;

  virtual char const* backend() const = 0;
  int depth() const { return static_cast<int>(m_operations.size()); }
  int in_flight() const { return depth() - static_cast<int>(m_free.size()); }
  bool full() const { return m_free.empty(); }

  // Registers `memory`, sorted by address, in place of what was registered before, so that
  // transfers within one of its spans need not pin their pages. All pages become resident at once
  // and count against RLIMIT_MEMLOCK. Call it only while nothing is in flight; a `wake` before it
  // may be lost. Returns 0, or an errno, and then nothing is registered. Backends that cannot
  // register memory do nothing and return 0.
  virtual int register_memory(std::span<std::span<std::byte> const> /*memory*/) { return 0; }

  // Begins a request and returns at once. The queue must not be full.
  void submit(TransferRequest const& request) noexcept;

  // Sleeps until a request is done. Returns nothing if none is done within `timeout_s`, if none is
  // in flight, or if `wake` was called.
  std::optional<TransferDone> wait(double timeout_s) noexcept;

  // Ends a `wait` in progress, or else the next one that would sleep. Any thread may call it at any
  // time.
  virtual void wake() noexcept = 0;

  // Lists requests in flight for a watchdog's message, the oldest first: "read of 1048576 bytes at
  // 4194304 for 12.1 s, ...".
  std::string outstanding() const;

 protected:
  explicit TransferQueue(int depth);

  struct Outcome {
    int operation = -1;
    std::int64_t moved_bytes = 0;  // is a negative errno if it failed
  };
  // Begins to move what `rest` names. Later `next` returns one Outcome that says how far it came,
  // even if it failed at once.
  virtual void start(int operation, TransferRequest const& rest) noexcept = 0;
  // Returns the next Outcome. Returns nothing if there is none within `timeout_s`, or if `wake` was
  // called.
  virtual std::optional<Outcome> next(double timeout_s) noexcept = 0;

 private:
  struct Operation {
    TransferRequest rest;  // the part that is still to be moved
    std::int64_t bytes = 0;
    SteadyClock::time_point begun;
    bool busy = false;
  };
  // Updates an operation by an Outcome. Returns the errno, or 0, if the operation has ended, and
  // nothing if it goes on.
  std::optional<int> advance(Outcome const& outcome) noexcept;

  std::vector<Operation> m_operations;
  std::vector<int> m_free;
};

}  // namespace spillway
