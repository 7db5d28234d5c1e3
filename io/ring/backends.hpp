// Chooses the TransferQueue that this machine can have.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

enum class Backend : std::uint8_t {
  automatic,    // io_uring, or posix if io_uring is not available
  uring,        // io_uring; a run registers all memory that the drive uses
  uring_plain,  // io_uring; a run registers no memory
  posix,        // threads that call pread and pwrite
};

struct QueueSettings {
  Backend backend = Backend::automatic;
  int depth = 32;
};

struct MadeQueue {
  std::unique_ptr<TransferQueue> queue;
  std::string stepped_down;  // one line: why io_uring is not used and what to change; or empty
};

// Returns the backend called auto, uring, uring-plain or posix. Other names fail an assertion.
Backend backend(std::string_view name);

// Describes the backend that TransferQueue::backend() names, in one line.
std::string_view backend_in_words(std::string_view name);

// Makes a queue, with no memory registered yet. Throws Error(bad_input) if a backend that was
// chosen by name is not available.
MadeQueue make_transfer_queue(QueueSettings const& settings);

// Returns null if io_uring cannot be used; then `error` is the errno that says why.
std::unique_ptr<TransferQueue> make_uring_queue(int depth, int& error);
std::unique_ptr<TransferQueue> make_posix_queue(int depth);

}  // namespace spillway
