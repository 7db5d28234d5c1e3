// What `debug.locked_allocator` (runtime/locked_allocator.hpp) asks before it refuses memory.
#pragma once

#include <utility>

namespace spillway {

inline thread_local constinit bool t_allocator_locked = false;

// Ends the process if this thread may not allocate; `what` says what it asked for.
void refuse_when_locked(char const* what);

// Around a call into a foreign library that takes and returns memory of its own while it runs.
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
