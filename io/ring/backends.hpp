// Which TransferQueue this machine gets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

enum class Backend : std::uint8_t {
  automatic,    // the first of the following that works
  uring,        // io_uring, its buffers registered once
  uring_plain,  // io_uring, buffers pinned for every transfer
  posix,        // threads that call pread and pwrite
};

struct QueueSettings {
  Backend backend = Backend::automatic;
  int depth = 32;
  std::span<std::byte> buffer;  // where most transfers begin and end; outlives the queue
};

struct MadeQueue {
  std::unique_ptr<TransferQueue> queue;
  std::string stepped_down;  // one line: what is missing and what to change; empty if nothing is
};

Backend backend(std::string_view name);  // auto | uring | uring-plain | posix; an assertion else

// What a TransferQueue::backend() is, in a line.
std::string_view backend_in_words(std::string_view name);

// Throws Error(bad_input) if a backend that is asked for by name cannot be had.
MadeQueue make_transfer_queue(QueueSettings const& settings);

// Of each backend, or null with the errno that says why not.
std::unique_ptr<TransferQueue> make_uring_queue(QueueSettings const& settings, int& error);
std::unique_ptr<TransferQueue> make_uring_plain_queue(int depth, int& error);
std::unique_ptr<TransferQueue> make_posix_queue(int depth);

}  // namespace spillway
