// The device's thread. It alone takes decisions and runs kernels, and only while somebody waits
// for it: so one seed means one order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace spillway::test::cuda {

class Scheduler {
 public:
  struct Demand {
    std::function<bool()> met;  // asked before every decision
    std::int64_t most = -1;     // decisions; -1: as many as it takes
    int wanted = -1;            // the stream whose work is asked for
    bool dry = false;           // whether there was no decision left to take
    bool ended = false;
  };

  // `decide` takes a decision on what a stream wants, or returns false. It is called with the mutex
  // that `lock` holds.
  explicit Scheduler(std::function<bool(int wanted)> decide) : m_decide(std::move(decide)) {}

  // Hands control over and returns when the demand is met, used up or dry.
  void serve(std::unique_lock<std::mutex>& lock, Demand& demand);

 private:
  void loop(std::mutex& mutex);

  std::function<bool(int)> m_decide;
  std::condition_variable m_changed;
  Demand* m_demand = nullptr;
  bool m_started = false;
};

}  // namespace spillway::test::cuda
