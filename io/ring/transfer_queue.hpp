// A TransferQueue does many transfers at once between memory and open files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
// thread at a time may use a queue, except for `wake`. Only the constructor, `register_memory` and
// `outstanding` allocate.
class TransferQueue {
 public:
  virtual ~TransferQueue() = default;
  TransferQueue(TransferQueue const&) = delete;
  TransferQueue& operator=(TransferQueue const&) = delete;

  virtual char const* backend() const = 0;
  int depth() const { return static_cast<int>(m_operations.size()); }
  int in_flight() const { return depth() - static_cast<int>(m_free.size()); }
  bool full() const { return m_free.empty(); }

  // Registers `memory`, whose spans are sorted by address, in place of what was registered before,
  // so that transfers within one span need not pin pages. All pages become resident at once and
  // count against RLIMIT_MEMLOCK. Call register_memory only while nothing is in flight; a `wake`
  // just before it may be lost. Returns 0, or an errno, and then nothing is registered. Backends
  // that cannot register memory do nothing and return 0.
  virtual int register_memory(std::span<std::span<std::byte> const> /*memory*/) { return 0; }

  // Begins a request and returns at once. The queue must not be full.
  void submit(TransferRequest const& request) noexcept;

  // Sleeps until a request is done, and returns its tag and error. Returns nothing if no request is
  // done within `timeout_s`, if none is in flight, or if `wake` was called.
  std::optional<TransferDone> wait(double timeout_s) noexcept;

  // Ends a `wait` in progress, or else the next one that would sleep. Any thread may call it at any
  // time.
  virtual void wake() noexcept = 0;

  // Lists requests in flight for a watchdog's message, the oldest first: "read of 1048576 bytes at
  // 4194304 for 12.1 s, ...". What `where` returns for a request's file stands behind the offset.
  using Where = std::function<std::string(int file)>;
  std::string outstanding(Where const& where = [](int) { return std::string(); }) const;

 protected:
  explicit TransferQueue(int depth);

  struct Outcome {
    int operation = -1;
    std::int64_t moved_bytes = 0;  // a negative errno if the operation failed
  };
  // Begins to transfer the bytes that `rest` names. Later, `next` returns one Outcome for each
  // start, even for one that failed at once.
  virtual void start(int operation, TransferRequest const& rest) noexcept = 0;
  // Returns the next Outcome. Returns nothing if none comes within `timeout_s`, or if `wake` was
  // called.
  virtual std::optional<Outcome> next(double timeout_s) noexcept = 0;

 private:
  struct Operation {
    TransferRequest rest;  // the bytes that are still to be moved
    std::int64_t bytes = 0;
    SteadyClock::time_point begun;
    bool busy = false;
  };
  // Notes an outcome in its operation. Returns nothing if the operation goes on, 0 if it has moved
  // all bytes, and an errno if it has failed.
  std::optional<int> advance(Outcome const& outcome) noexcept;

  std::vector<Operation> m_operations;
  std::vector<int> m_free;
};

}  // namespace spillway
