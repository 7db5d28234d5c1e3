// Holds all that the stand-in knows. One mutex guards it.
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

  // Clocks begin anew with every reset(), after which the components of earlier clocks mean
  // nothing.
  int clocks = 0, next_component = 0;
  // The components of those for whom threads act (Order::act_for), by address.
  std::unordered_map<void const*, Component> others;
  Meetings meetings;
};

State& state();  // it is never destroyed, because what ends with the process may still use it

Component& this_thread(State& all);  // of the calling thread, or of whom it acts for

// Returns the address at which the stand-in can touch these bytes: in main memory, or the shadow of
// device memory. Returns null if the device may not touch all of them.
std::byte* reachable(State const& all, AddressRange const& range);
bool is_device(State const& all, AddressRange const& range);

// Holds what CUDA keeps for each thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
};
ThreadState& thread_state();

}  // namespace spillway::test::cuda
