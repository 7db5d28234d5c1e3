// Defines the threads that share the host lane's ops.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/sleep_word.hpp"

namespace spillway {

// The caller's thread works too, so a pool of one thread has no others. Between calls the others
// sleep, and `run` does not wait for those that wake late. Only one thread at a time may call
// `run`, which allocates nothing.
class HostPool {
 public:
  explicit HostPool(int threads);  // throws Error(bad_input) if so many cannot be started
  ~HostPool();
  HostPool(HostPool const&) = delete;
  HostPool& operator=(HostPool const&) = delete;

  int threads() const { return static_cast<int>(m_helpers.size()) + 1; }

  // Calls work(piece) for every piece in [0, pieces), each on one of the threads. The result must
  // not depend on which thread that is, nor on the order. Returns when all are done and what they
  // wrote is visible. `work` must not throw.
  template <class Work>
  void run(std::int64_t pieces, Work const& work) {
    auto const call = [](void const* of, std::int64_t piece) {
      (*static_cast<Work const*>(of))(piece);
    };
    share({pieces, &work, call});
  }

 private:
  struct Job {
    std::int64_t pieces = 0;
    void const* work = nullptr;
    void (*call)(void const* work, std::int64_t piece) = nullptr;
  };

  void start(int helpers);
  void end();
  void share(Job const& job);
  void help();  // what a helper thread runs from start to end
  bool join();
  void leave();
  void take_pieces();

  Job m_job;  // written only while nobody has joined
  std::atomic<std::int64_t> m_next = 0;
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
  SleepWord m_joined;  // helpers at work; plus kOpen if more may join
  SleepWord m_bell;    // changes once per job to wake helpers
  std::atomic<bool> m_over = false;
  std::vector<std::jthread> m_helpers;
};

}  // namespace spillway
