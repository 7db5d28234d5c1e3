// What launches go to, in order.
#pragma once

namespace spillway {

class HostPool;  // threads of the host lane (kernels/host_pool.hpp)

// A table of kernels makes what its own launches go to (KernelTable::exec), and only its kernels
// know what that is. This class by itself is for kernels that need nothing: those of the host lane,
// whose launches have ended when they return.
class Exec {
 public:
  Exec() = default;
  // The threads of `pool` share the work of what `Kernel::serial` binds. It must outlive this.
  explicit Exec(HostPool& pool) : m_pool(&pool) {}
  virtual ~Exec() = default;
  Exec(Exec const&) = delete;
  Exec& operator=(Exec const&) = delete;

  HostPool* host_pool() const { return m_pool; }  // null: one thread does all work
  virtual int concurrency() const { return 1; }   // how many threads share a launch's work
  virtual void fence() const {}                   // returns when all that was launched has ended

 private:
  HostPool* m_pool = nullptr;
};

}  // namespace spillway
