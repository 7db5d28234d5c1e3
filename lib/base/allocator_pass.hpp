// Says for each thread whether it may allocate memory. With the key `debug.locked_allocator`,
// threads that run items may not (runtime/locked_allocator.hpp).
#pragma once

#include <utility>

namespace spillway {

inline thread_local constinit bool t_allocator_locked = false;

// Ends the process if the calling thread may not allocate memory. `what` says, in the message, what
// the thread asked for.
void refuse_when_locked(char const* what);

// While an AllocatorPass exists, the thread that made it may allocate memory. It is made for calls
// of libraries that allocate memory of their own.
class AllocatorPass {
 public:
  AllocatorPass() : m_before(std::exchange(t_allocator_locked, false)) {}
  ~AllocatorPass() { t_allocator_locked = m_before; }
  AllocatorPass(AllocatorPass const&) = delete;
  AllocatorPass& operator=(AllocatorPass const&) = delete;

 private:
  bool m_before;
};

}  // namespace spillway
