// A ScriptedQueue is a transfer queue in which a script decides how each operation ends. Operations
// end in any order. It simulates bad storage.
#pragma once

#include <concepts>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "io/ring/transfer_queue.hpp"

namespace spillway {

// Says how an operation ends. `bytes` is the most that is moved, or a negative errno. A damaged
// operation reports success, but a bit of what it read is wrong, or nothing was written.
struct TransferEnding {
  template <std::convertible_to<std::int64_t> Bytes>
  TransferEnding(Bytes most, bool is_damaged = false) : bytes(most), damaged(is_damaged) {}

  std::int64_t bytes;
  bool damaged;
};

class ScriptedQueue final : public TransferQueue {
 public:
  // A Script returns how a request ends, or nothing if it does not end yet. It is called for the
  // request again and again while the queue's owner waits.
  using Script = std::function<std::optional<TransferEnding>(TransferRequest const&)>;

  ScriptedQueue(int depth, std::uint64_t seed, Script script);

  char const* backend() const override { return "scripted"; }
  void wake() noexcept override;

 private:
  void start(int operation, TransferRequest const& rest) noexcept override;
  std::optional<Outcome> next(double timeout_s) noexcept override;
  std::optional<Outcome> ended();

  std::minstd_rand m_random;  // draws the order in which operations end
  Script m_script;
  std::vector<std::pair<int, TransferRequest>> m_asked;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_woken = false;
};

}  // namespace spillway
