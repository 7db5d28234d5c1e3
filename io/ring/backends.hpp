// Which TransferQueue this machine gets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

enum class Backend : std::uint8_t {
  automatic,    // io_uring or, if that cannot be had, posix
  uring,        // io_uring, with memory registered wherever that can be
  uring_plain,  // io_uring, with no memory registered
  posix,        // threads that call pread and pwrite
};

struct QueueSettings {
  Backend backend = Backend::automatic;
  int depth = 32;
};

struct MadeQueue {
  std::unique_ptr<TransferQueue> queue;
  std::string stepped_down;  // one line: what is missing and what to change; empty if nothing is
};

Backend backend(std::string_view name);  // auto | uring | uring-plain | posix; an assertion else

// What a TransferQueue::backend() is, in a line.
std::string_view backend_in_words(std::string_view name);

// Throws Error(bad_input) if a backend that is asked for by name cannot be had. No memory is
// registered yet.
MadeQueue make_transfer_queue(QueueSettings const& settings);

// Null with the errno that says why not.
std::unique_ptr<TransferQueue> make_uring_queue(int depth, int& error);
std::unique_ptr<TransferQueue> make_posix_queue(int depth);

}  // namespace spillway
