// An Exec is what kernels are launched on, such as a stream of a device. Kernels that are launched
// on the same Exec run in the order of their launches.
#pragma once

namespace spillway {

class HostPool;  // the threads of the host lane (kernels/host_pool.hpp)

// A KernelTable makes the Exec that its kernels are launched on (KernelTable::exec). Only these
// kernels know which derived class the Exec has. Kernels of the host lane, whose launches return
// after the work has ended, need only this base class.
class Exec {
 public:
  Exec() = default;
  // The threads of `pool`, which must outlive the Exec, share the work of serial kernels.
  explicit Exec(HostPool& pool) : m_pool(&pool) {}
  virtual ~Exec() = default;
  Exec(Exec const&) = delete;
  Exec& operator=(Exec const&) = delete;

  HostPool* host_pool() const { return m_pool; }  // null if one thread runs serial kernels
  virtual int concurrency() const { return 1; }   // how many threads share a launch's work
  virtual void fence() const {}                   // returns when all launches have ended

 private:
  HostPool* m_pool = nullptr;
};

}  // namespace spillway
