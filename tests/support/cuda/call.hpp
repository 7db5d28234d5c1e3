// What every function of CUDA's API does before and after what it is for.
#pragma once

#include <fmt/format.h>

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/enqueue.hpp"

namespace spillway::test::cuda {

enum class Gives { nothing, back };  // what must also be possible on a lost device

// Counts the call and acts unless a fault is planned; body(state, stuck) returns an error.
template <class Body>
cudaError_t counted(char const* name, Gives gives, Body const& body) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  auto const verdict = all.faults.enter(name, gives == Gives::back);
  if (all.faults.sticky()) all.queues.drop_work();
  auto const result = verdict.acts ? body(all, verdict.stuck) : cudaSuccess;
  return verdict.error.value_or(result);
}

// A function of the runtime API, which also keeps the thread's last error.
template <class Body>
cudaError_t call(char const* name, Body const& body, Gives gives = Gives::nothing) {
  auto const result =
      counted(name, gives, [&](State& all, bool) -> cudaError_t { return body(all); });
  if (result != cudaSuccess) thread_state().last_error = result;
  return result;
}

// The same of a function that enqueues a piece: body(state, stuck).
template <class Body>
cudaError_t call_that_enqueues(char const* name, Body const& body) {
  auto const result = counted(name, Gives::nothing, body);
  if (result != cudaSuccess) thread_state().last_error = result;
  return result;
}

// Says of the call that is under way that it changes nothing.
inline void note_needless(State& all, char const* name) {
  all.needless_calls[name].insert(all.faults.calls().at(name) - 1);
}

inline cudaError_t refuse(cudaError_t error, std::string const& why) {
  complain(why);
  return error;
}

// CUDA would do it all the same, but first make a context on the device that the thread has chosen.
inline void expect_chosen(int device, char const* what) {
  if (thread_state().device == device) return;
  complain(fmt::format("{} of device {} from a thread that has chosen device {}", what, device,
                       thread_state().device));
}

// Handles are numbers.
template <class Handle>
int number(Handle handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
}
template <class Handle>
Handle handle_of(int number) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}

}  // namespace spillway::test::cuda
