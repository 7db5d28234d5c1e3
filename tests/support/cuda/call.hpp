// Does what every function of CUDA's API does before and after its own work.
#pragma once

#include <fmt/format.h>

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/enqueue.hpp"

namespace spillway::test::cuda {

// Says whether a call gives something back, such as memory. This must be possible on a lost device.
enum class Gives { nothing, back };

// Counts the call and, unless a planned fault prevents it, calls body(state, stuck). `stuck` means
// that work which the call enqueues must never end. Returns the fault's error or what body returns.
template <class Body>
cudaError_t counted(char const* name, Gives gives, Body const& body) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  auto const verdict = all.faults.enter(name, gives == Gives::back);
  if (all.faults.sticky()) all.queues.drop_work();
  auto const result = verdict.acts ? body(all, verdict.stuck) : cudaSuccess;
  if (verdict.error) return *verdict.error;
  return all.faults.sticky().value_or(result);  // a kernel may have failed during the call
}

// Functions of the runtime API use this. It passes body(state) to counted() and keeps an error as
// the thread's last error.
template <class Body>
cudaError_t call(char const* name, Body const& body, Gives gives = Gives::nothing) {
  auto const result =
      counted(name, gives, [&](State& all, bool) -> cudaError_t { return body(all); });
  if (result != cudaSuccess) thread_state().last_error = result;
  return result;
}

// Functions of the runtime API that enqueue a piece use this. It passes body(state, stuck) to
// counted() and keeps an error as the thread's last error.
template <class Body>
cudaError_t call_that_enqueues(char const* name, Body const& body) {
  auto const result = counted(name, Gives::nothing, body);
  if (result != cudaSuccess) thread_state().last_error = result;
  return result;
}

// Notes that the current call of function `name` changes nothing (see needless_calls()).
inline void note_needless(State& all, char const* name) {
  all.needless_calls[name].insert(all.faults.calls().at(name) - 1);
}

// Complains and returns the error.
inline cudaError_t refuse(cudaError_t error, std::string const& why) {
  complain(why);
  return error;
}
inline cudaError_t no_such_stream() {
  return refuse(cudaErrorInvalidResourceHandle, "a stream that does not exist");
}

// Complains unless the thread has chosen this device. CUDA would carry the call out, but would
// first make a context on the device that the thread has chosen.
inline void expect_chosen(int device, char const* what) {
  if (thread_state().device == device) return;
  complain(fmt::format("{} of device {} from a thread that has chosen device {}", what, device,
                       thread_state().device));
}

// Handles are numbers that are cast to pointers.
template <class Handle>
int number(Handle handle) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(handle));
}
template <class Handle>
Handle handle_of(int number) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
}

}  // namespace spillway::test::cuda
