// `debug.locked_allocator` (runtime/locked_allocator.hpp) asks here whether a thread may allocate.
#pragma once

#include <utility>

namespace spillway {

inline thread_local constinit bool t_allocator_locked = false;

// Ends the process if this thread may not allocate. `what` is part of the message and says what the
// thread asked for.
void refuse_when_locked(char const* what);

// While an AllocatorPass exists, its thread may allocate. It is put around calls of foreign
// libraries that allocate and free memory of their own.
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
