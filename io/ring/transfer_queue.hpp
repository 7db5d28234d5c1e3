// Many transfers at once between memory and open files: what every backend offers.
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
  int file = -1;                // a descriptor
  std::span<std::byte> memory;  // not empty; left alone by the caller until done
  std::int64_t offset_bytes = 0;
  std::uint64_t tag = 0;  // the caller's own
};

struct TransferDone {
  std::uint64_t tag = 0;
  int error = 0;  // errno; 0: all bytes are moved. A file that ends too early is EIO
};

// A fixed number of operations, of which each carries one request to its end: short transfers are
// continued, interrupted ones begun again. Requests finish in any order. But for `wake`, one thread
// at a time; nothing but the constructor and `register_memory` allocates.
class TransferQueue {
 public:
  virtual ~TransferQueue() = default;
  TransferQueue(TransferQueue const&) = delete;
  TransferQueue& operator=(TransferQueue const&) = delete;

  virtual char const* backend() const = 0;
  int depth() const { return static_cast<int>(m_operations.size()); }
  int in_flight() const { return depth() - static_cast<int>(m_free.size()); }
  bool full() const { return m_free.empty(); }

  // Registers `memory`, in rising order, in place of what was registered before, so that transfers
  // within one of its spans need not pin their pages. All pages become resident at once, and count
  // against RLIMIT_MEMLOCK. Only while nothing is in flight; a `wake` before it may be lost.
  // Returns 0, or the errno for which nothing is registered now. Backends that cannot use it do
  // nothing.
  virtual int register_memory(std::span<std::span<std::byte> const> /*memory*/) { return 0; }

  // Asynchronous. Only while not full.
  void submit(TransferRequest const& request) noexcept;

  // Sleeps until a request is done; empty when none is within `timeout_s`, none is in flight, or
  // `wake` was called.
  std::optional<TransferDone> wait(double timeout_s) noexcept;

  // From any thread, at any time: ends a wait in progress, or else the next one that would sleep.
  virtual void wake() noexcept = 0;

  // "read of 1048576 bytes at 4194304 for 12.1 s, ...", the oldest first: what a watchdog says.
  std::string outstanding() const;

 protected:
  explicit TransferQueue(int depth);

  struct Outcome {
    int operation = -1;
    std::int64_t moved_bytes = 0;  // below 0: an errno, negative
  };
  // Begins to move what `rest` names; later one Outcome says how far it came. After a start that
  // fails at once, an Outcome says so as well.
  virtual void start(int operation, TransferRequest const& rest) noexcept = 0;
  // Empty after `timeout_s`, or when woken.
  virtual std::optional<Outcome> next(double timeout_s) noexcept = 0;

 private:
  struct Operation {
    TransferRequest rest;  // what is still to move
    std::int64_t bytes = 0;
    SteadyClock::time_point begun;
    bool busy = false;
  };
  // Counts an outcome in; the error of an operation that has ended.
  std::optional<int> advance(Outcome const& outcome) noexcept;

  std::vector<Operation> m_operations;
  std::vector<int> m_free;
};

}  // namespace spillway
