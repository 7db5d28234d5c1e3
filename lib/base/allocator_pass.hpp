// Says for each thread whether it may allocate memory. With the key `debug.locked_allocator`,
// threads that run items may not (runtime/locked_allocator.hpp).
#pragma once

#include <utility>

namespace spillway {

inline thread_local constinit bool t_allocator_locked = false;

// Returns whether the calling thread may not allocate. A module that is opened at run time has its
// own copy of t_allocator_locked, so the program gives it the program's function.
using LockOfThread = bool& (*)();
inline bool& own_lock_of_thread() {
  return t_allocator_locked;
}
inline constinit LockOfThread g_lock_of_thread = own_lock_of_thread;

// Ends the process if the calling thread may not allocate memory. `what` says, in the message, what
// the thread asked for.
void refuse_when_locked(char const* what);

// While an AllocatorPass exists, the thread that made it may allocate memory. It is made for calls
// of libraries that allocate memory of their own.
class AllocatorPass {
 public:
  AllocatorPass() : m_lock(g_lock_of_thread()), m_before(std::exchange(m_lock, false)) {}
  ~AllocatorPass() { m_lock = m_before; }
  AllocatorPass(AllocatorPass const&) = delete;
  AllocatorPass& operator=(AllocatorPass const&) = delete;

 private:
  bool& m_lock;
  bool m_before;
};

}  // namespace spillway
