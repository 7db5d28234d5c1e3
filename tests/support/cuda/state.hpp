// All that the stand-in knows, behind one mutex.
#pragma once

#include <mutex>
#include <unordered_map>

#include "tests/support/cuda/accesses.hpp"
#include "tests/support/cuda/clock.hpp"
#include "tests/support/cuda/device_memory.hpp"
#include "tests/support/cuda/faults.hpp"
#include "tests/support/cuda/lt_objects.hpp"
#include "tests/support/cuda/meetings.hpp"
#include "tests/support/cuda/pinned_memory.hpp"
#include "tests/support/cuda/queues.hpp"
#include "tests/support/cuda/scheduler.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

struct State {
  std::mutex mutex;
  Settings settings;
  DeviceMemory memory;
  PinnedMemory pinned;
  Accesses accesses;
  Queues queues;
  LtObjects lt;
  Faults faults;
  Scheduler scheduler{[this](int wanted) { return queues.decide(wanted); }};
  std::map<std::string, std::set<std::int64_t>> needless_calls;
  std::vector<int> priorities;

  // Clocks begin anew with every reset: components of an earlier one mean nothing.
  int clocks = 0, next_component = 0;
  std::unordered_map<void const*, Component> others;  // for whom threads act, by address
  Meetings meetings;
};

State& state();  // is never destroyed: what ends with the process may still use it

Component& this_thread(State& all);  // or for whom it acts

// Return main memory's or the shadow's address of bytes if the device may touch them all; else
// null.
std::byte* reachable(State const& all, Range const& range);
bool is_device(State const& all, Range const& range);

// What CUDA keeps for each thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
};
ThreadState& thread_state();

}  // namespace spillway::test::cuda
