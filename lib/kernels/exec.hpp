// The execution-space instance that every kernel runs on.
#pragma once

#include <memory>
#include <utility>

namespace spillway {

class HostPool;      // threads of the host lane (kernels/host_pool.hpp)
struct KernelSpace;  // Kokkos' instance (kernels/kernel_space.hpp): its headers stay in lib/kernels

// A handle; copies share the instance. Made and used inside the life of a KernelScope.
class Exec {
 public:
  Exec();  // the default instance
  explicit Exec(std::shared_ptr<KernelSpace const> space) : m_space(std::move(space)) {}

  // The same with the threads that share what `Kernel::serial` binds; they outlive it.
  Exec with(HostPool& pool) const;
  HostPool* host_pool() const { return m_pool; }  // null: one thread does it all

  KernelSpace const& space() const { return *m_space; }
  bool is_on_host() const;  // main memory is its memory
  int concurrency() const;  // threads
  void fence() const;       // returns when everything launched on it is done

 private:
  std::shared_ptr<KernelSpace const> m_space;
  HostPool* m_pool = nullptr;
};

}  // namespace spillway
