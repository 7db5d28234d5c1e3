// `debug.locked_allocator`: after step 0 nothing is allocated while items run. The program's global
// operator new is the one defined beside this header.
#pragma once

namespace spillway {

// While one exists and is on, `new` and arena requests by this thread end the process with a line
// on stderr. Scopes nest. malloc, which libraries written in C use, is not watched.
class AllocatorLock {
 public:
  explicit AllocatorLock(bool on);
  ~AllocatorLock();
  AllocatorLock(AllocatorLock const&) = delete;
  AllocatorLock& operator=(AllocatorLock const&) = delete;

 private:
  bool m_before;
};

}  // namespace spillway
