// Defines the threads that share the work of ops on the host lane.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/sleep_word.hpp"

namespace spillway {

// A HostPool has threads that share pieces of work with the thread that calls `run`; a pool of one
// thread starts no others. Between calls they sleep, and `run` does not wait for those that wake
// too late to take part. Only one thread at a time may call `run`, which allocates nothing.
class HostPool {
 public:
  explicit HostPool(int threads);  // throws Error(bad_input) if the system starts fewer threads
  ~HostPool();
  HostPool(HostPool const&) = delete;
  HostPool& operator=(HostPool const&) = delete;

  int threads() const { return static_cast<int>(m_helpers.size()) + 1; }

  // Calls work(piece) for every number in [0, pieces), each on any of the threads and in any order;
  // the result must not depend on threads or order. Returns when all pieces are done and what they
  // wrote is visible to the caller. `work` must not throw.
  template <class Work>
  void run(std::int64_t pieces, Work const& work) {
    auto const call = [](void const* of, std::int64_t piece) {
      (*static_cast<Work const*>(of))(piece);
    };
    run_job({pieces, &work, call});
  }

 private:
  struct Job {
    std::int64_t pieces = 0;
    void const* work = nullptr;
    void (*call)(void const* work, std::int64_t piece) = nullptr;
  };

  void start(int helpers);
  void stop();
  void run_job(Job const& job);
  void help();  // the function that a helper thread runs from its start to its end
  bool join();
  void leave();
  void take_pieces();

  Job m_job;  // changed only while no helper takes part
  std::atomic<std::int64_t> m_next = 0;
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;
  SleepWord m_joined;  // the number of helpers at work, plus kOpen if more may join
  SleepWord m_bell;    // changes with every job, and when the pool ends, to wake the helpers
  std::atomic<bool> m_over = false;
  std::vector<std::jthread> m_helpers;
};

}  // namespace spillway
