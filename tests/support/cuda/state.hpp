// Holds all that the stand-in knows. Its mutex guards the other members.
#pragma once

#include <mutex>
#include <unordered_map>

#include "tests/support/cuda/accesses.hpp"
#include "tests/support/cuda/allocations.hpp"
#include "tests/support/cuda/clock.hpp"
#include "tests/support/cuda/device_code.hpp"
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
  SimulatedMemory memory;
  PinnedMemory pinned;
  Allocations allocations;
  DeviceCode code;
  Accesses accesses;
  Queues queues;
  LtObjects lt;
  Faults faults;
  Scheduler scheduler{[this](int wanted) { return queues.decide(wanted); }};
  std::map<std::string, std::set<std::int64_t>> needless_calls;
  std::vector<int> priorities;
  // Of kernels that the interpreter has run since reset(), and of turns of their warps.
  std::uint64_t launches = 0, turns = 0;

  // `clocks` counts the calls of reset(). Each makes Components and Marks from before it invalid.
  int clocks = 0, next_component = 0;
  // The Components of the participants for whom threads act, by the address in Order::act_for().
  std::unordered_map<void const*, Component> others;
  Meetings meetings;
};

State& state();  // is never destroyed: destructors at the end of a process use it

// Returns the Component of this thread or, if it acts for a participant, of that.
Component& this_thread(State& all);

// Returns the address at which the stand-in can touch these bytes: their own one in main memory, or
// that of the shadow of device memory. Returns null if the device may not touch all of them.
std::byte* reachable(State const& all, AddressRange const& range);
Bytes reachable_bytes(State const& all, AddressRange const& range);
bool is_device(State const& all, AddressRange const& range);

// Holds what CUDA keeps for each thread.
struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
};
ThreadState& thread_state();

}  // namespace spillway::test::cuda
