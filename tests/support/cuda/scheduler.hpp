// The Scheduler takes decisions (see queues.hpp) on behalf of threads that wait. All kernels run on
// a thread of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace spillway::test::cuda {

// A thread that waits for the device takes the device's decisions itself. So no thread has to be
// woken, and if there is only one, the order of all work depends on the seed alone.
class Scheduler {
 public:
  struct Demand {
    std::function<bool()> met;    // is called before every decision; true ends the wait
    std::int64_t most = -1;       // the most decisions to take; -1 if there is no limit
    int wanted = -1;              // the stream whose work the thread waits for; -1 if any
    bool none_can_go_on = false;  // set if no decision was left to take
  };

  // `decide` takes one decision, preferably for the stream `wanted`, or returns false if there is
  // none. It is called under the mutex of the stand-in.
  explicit Scheduler(std::function<bool(int wanted)> decide) : m_decide(std::move(decide)) {}

  // Takes decisions until the demand is met, its limit is reached, or none is left.
  void serve(Demand& demand);

 private:
  std::function<bool(int)> m_decide;
};

// Runs `work` on the thread that runs all kernels and returns when `work` has ended. There is only
// one such thread, because OpenMP keeps a team of threads for each thread that begins a parallel
// loop. Only one thread at a time may call this.
void run_on_device_thread(std::function<void()> const& work);

}  // namespace spillway::test::cuda
