#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/cannot_start.hpp"
#include "io/ring/backends.hpp"
#include "io/ring/bounded_queue.hpp"

namespace spillway {
namespace {

// There may be more threads than cores, because these threads mostly wait for storage.
constexpr int kMostThreads = 8;

class PosixQueue final : public TransferQueue {
 public:
  explicit PosixQueue(int depth)
      : TransferQueue(depth),
        m_asked(static_cast<std::size_t>(depth)),
        m_outcomes(static_cast<std::size_t>(depth)) {
    try {
      start_threads([&] {
        for (int i = 0; i < std::min(depth, kMostThreads); ++i)
          m_threads.emplace_back([this] { work(); });
      });
    } catch (...) {
      end();  // otherwise joining the threads that did start would never return
      throw;
    }
  }
  ~PosixQueue() override { end(); }

  char const* backend() const override { return "posix"; }

  void wake() noexcept override {
    {
      std::lock_guard const lock(m_mutex);
      m_woken = true;
    }
    m_answer.notify_one();
  }

 private:
  struct Asked {
    int operation = -1;
    TransferRequest rest;
  };

  void start(int operation, TransferRequest const& rest) noexcept override {
    {
      std::lock_guard const lock(m_mutex);
      m_asked.push({operation, rest});
    }
    m_ask.notify_one();
  }

  std::optional<Outcome> next(double timeout_s) noexcept override {
    std::unique_lock lock(m_mutex);
    auto const some = [this] { return m_woken || !m_outcomes.empty(); };
    m_answer.wait_for(lock, std::chrono::duration<double>(timeout_s), some);
    if (!m_outcomes.empty()) return m_outcomes.pop();
    m_woken = false;
    return {};
  }

  void end() {
    {
      std::lock_guard const lock(m_mutex);
      m_ends = true;
    }
    m_ask.notify_all();
  }

  void work() {
    std::unique_lock lock(m_mutex);
    while (true) {
      m_ask.wait(lock, [this] { return m_ends || !m_asked.empty(); });
      if (m_asked.empty()) return;
      auto const asked = m_asked.pop();
      lock.unlock();
      Outcome const outcome{asked.operation, move(asked.rest)};
      lock.lock();
      m_outcomes.push(outcome);
      m_answer.notify_one();
    }
  }

  static std::int64_t move(TransferRequest const& rest) {
    auto const [direction, file, memory, offset_bytes, tag] = rest;
    auto const moved = direction == Direction::read
                           ? ::pread(file, memory.data(), memory.size(), offset_bytes)
                           : ::pwrite(file, memory.data(), memory.size(), offset_bytes);
    return moved < 0 ? -errno : moved;
  }

  std::mutex m_mutex;
  std::condition_variable m_ask, m_answer;
  BoundedQueue<Asked> m_asked;
  BoundedQueue<Outcome> m_outcomes;
  bool m_ends = false, m_woken = false;
  // The threads use all members above, so they are declared last and joined first.
  std::vector<std::jthread> m_threads;
};

}  // namespace

std::unique_ptr<TransferQueue> make_posix_queue(int depth) {
  return std::make_unique<PosixQueue>(depth);
}

}  // namespace spillway
