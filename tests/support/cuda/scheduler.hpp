// Who takes decisions, and the device's thread, which runs kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace spillway::test::cuda {

// Whoever waits for the device takes its decisions meanwhile: so nobody sleeps or asks in vain, and
// one seed and one thread mean one order.
class Scheduler {
 public:
  struct Demand {
    std::function<bool()> met;  // asked before every decision
    std::int64_t most = -1;     // decisions; -1: as many as it takes
    int wanted = -1;            // the stream whose work is asked for
    bool dry = false;           // whether there was no decision left to take
  };

  // `decide` takes a decision on what a stream wants, or returns false. It is called with the mutex
  // of the stand-in.
  explicit Scheduler(std::function<bool(int wanted)> decide) : m_decide(std::move(decide)) {}

  // Returns when the demand is met, used up or dry.
  void serve(Demand& demand);

 private:
  std::function<bool(int)> m_decide;
};

// Runs the work on the one thread that runs all kernels, since OpenMP keeps other threads for each
// that begins a loop. Returns when it has ended. Only one thread at a time may call it.
void run_on_device_thread(std::function<void()> const& work);

}  // namespace spillway::test::cuda
