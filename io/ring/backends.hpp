// Chooses the TransferQueue that this machine can have.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/choices.hpp"
#include "io/ring/transfer_queue.hpp"

namespace spillway {

struct QueueSettings {
  std::optional<Backend> backend = {};  // if empty, io_uring or, failing that, posix
  int depth = 32;
};

struct MadeQueue {
  std::unique_ptr<TransferQueue> queue;
  std::string stepped_down;  // one line if io_uring was tried in vain: why, and what to change
};

// Describes the backend that TransferQueue::backend() names, in one line.
std::string_view backend_in_words(std::string_view name);

// Makes a queue, with no memory registered yet. Throws Error(bad_input) if a backend that was
// chosen by name is not available.
MadeQueue make_transfer_queue(QueueSettings const& settings);

// Returns null if io_uring cannot be used; then `error` is the errno that says why.
std::unique_ptr<TransferQueue> make_uring_queue(int depth, int& error);
std::unique_ptr<TransferQueue> make_posix_queue(int depth);

}  // namespace spillway
