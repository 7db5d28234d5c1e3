// A transfer queue whose every operation ends as a test says, in any order.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "io/ring/transfer_queue.hpp"

namespace spillway::test {

class FakeQueue final : public TransferQueue {
 public:
  // How many bytes of an operation may move (no more than there are), or an errno, negative; empty:
  // it does not end now. Asked again and again while its owner waits.
  using Fate = std::function<std::optional<std::int64_t>(TransferRequest const&)>;

  FakeQueue(int depth, unsigned seed, Fate fate)
      : TransferQueue(depth), m_random(seed), m_fate(std::move(fate)) {}
  char const* backend() const override { return "fake"; }
  void wake() noexcept override {
    {
      std::lock_guard const lock(m_mutex);
      m_woken = true;
    }
    m_wake.notify_one();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void start(int operation, TransferRequest const& rest) noexcept override {
    m_asked.emplace_back(operation, rest);
  }

  std::optional<Outcome> next(double timeout_s) noexcept override {
    auto const end = Clock::now() + std::chrono::duration<double>(timeout_s);
    while (true) {
      if (auto const outcome = ended()) return outcome;
      auto const nap = std::min(Clock::now() + std::chrono::duration<double>(0.001), end);
      std::unique_lock lock(m_mutex);
      bool const woken = m_wake.wait_until(lock, nap, [this] { return m_woken; });
      m_woken = false;
      if (woken || Clock::now() >= end) return {};
    }
  }

  std::optional<Outcome> ended() {
    for (auto i = m_asked.size(); i-- > 0;) {
      std::swap(m_asked[m_random() % (i + 1)], m_asked[i]);
      auto const [operation, rest] = m_asked[i];
      auto const fate = m_fate(rest);
      if (!fate) continue;
      std::swap(m_asked[i], m_asked.back());
      m_asked.pop_back();
      return Outcome{operation, *fate < 0 ? *fate : moved(rest, *fate)};
    }
    return {};
  }

  static std::int64_t moved(TransferRequest const& rest, std::int64_t most) {
    auto const bytes = std::min(rest.memory.size(), static_cast<std::size_t>(most));
    auto const moved = rest.direction == Direction::read
                           ? ::pread(rest.file, rest.memory.data(), bytes, rest.offset_bytes)
                           : ::pwrite(rest.file, rest.memory.data(), bytes, rest.offset_bytes);
    return moved < 0 ? -errno : moved;
  }

  std::minstd_rand m_random;
  Fate m_fate;
  std::vector<std::pair<int, TransferRequest>> m_asked;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_woken = false;
};

}  // namespace spillway::test
