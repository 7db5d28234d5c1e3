// An Exec is what kernels are launched on. Kernels run in the order in which they were launched on
// it.
#pragma once

namespace spillway {

class HostPool;  // the threads of the host lane (kernels/host_pool.hpp)

// A KernelTable makes the Exec that its own kernels are launched on (KernelTable::exec), and only
// these kernels know the class that it has. This base class suffices for kernels of the host lane,
// whose launches have ended when they return.
class Exec {
 public:
  Exec() = default;
  // The threads of `pool`, which must outlive the Exec, share the work of serial kernels.
  explicit Exec(HostPool& pool) : m_pool(&pool) {}
  virtual ~Exec() = default;
  Exec(Exec const&) = delete;
  Exec& operator=(Exec const&) = delete;

  HostPool* host_pool() const { return m_pool; }  // null if one thread does all work
  virtual int concurrency() const { return 1; }   // how many threads share a launch's work
  virtual void fence() const {}                   // returns when all that was launched has ended

 private:
  HostPool* m_pool = nullptr;
};

}  // namespace spillway
