// Makes the TransferQueue of a run: by io_uring if the kernel allows that, or else by threads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/choices.hpp"
#include "io/ring/transfer_queue.hpp"

namespace spillway {

struct QueueSettings {
  std::optional<Backend> backend = {};  // if empty, io_uring or, if io_uring cannot be used, posix
  int depth = 32;
};

struct MadeQueue {
  std::unique_ptr<TransferQueue> queue;
  std::string why_not_uring;  // why io_uring failed and what to change; empty if it did not
};

// Describes a backend in one line. `name` is what TransferQueue::backend() returns.
std::string_view backend_in_words(std::string_view name);

// Makes a queue, with no memory registered yet. Throws Error(bad_input) if the backend that
// `settings` names is not available, or if no threads can be started.
MadeQueue make_transfer_queue(QueueSettings const& settings);

// Returns null if io_uring cannot be used; then `error` is the errno that says why.
std::unique_ptr<TransferQueue> make_uring_queue(int depth, int& error);
std::unique_ptr<TransferQueue> make_posix_queue(int depth);

}  // namespace spillway
