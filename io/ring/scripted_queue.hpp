// A transfer queue whose every operation ends as somebody says, in any order: storage at its worst.
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

// How an operation ends. Bytes: how many of them may move (no more than there are), or an errno,
// negative. A damaged one says that it has moved them, but a bit of what it read is wrong, or
// nothing was written.
struct TransferFate {
  template <std::convertible_to<std::int64_t> Bytes>
  TransferFate(Bytes most, bool is_damaged = false) : bytes(most), damaged(is_damaged) {}

  std::int64_t bytes;
  bool damaged;
};

class ScriptedQueue final : public TransferQueue {
 public:
  // Empty: the operation does not end now. Asked again and again while its owner waits.
  using Script = std::function<std::optional<TransferFate>(TransferRequest const&)>;

  ScriptedQueue(int depth, std::uint64_t seed, Script script);

  char const* backend() const override { return "scripted"; }
  void wake() noexcept override;

 private:
  void start(int operation, TransferRequest const& rest) noexcept override;
  std::optional<Outcome> next(double timeout_s) noexcept override;
  std::optional<Outcome> ended();

  std::minstd_rand m_random;  // of the order
  Script m_script;
  std::vector<std::pair<int, TransferRequest>> m_asked;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_woken = false;
};

}  // namespace spillway
