// AllocatorLock enforces `debug.locked_allocator`: after step 0, nothing is allocated while items
// run. The source file beside this header defines the program's global operator new.
#pragma once

namespace spillway {

// While a lock exists that is on, `new` and requests for arenas by this thread end the process with
// a line on stderr. Locks nest. malloc, which libraries written in C use, is not watched.
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
