// Defines the execution-space instance that every kernel runs on.
#pragma once

#include <memory>
#include <utility>

namespace spillway {

class HostPool;      // threads of the host lane (kernels/host_pool.hpp)
struct KernelSpace;  // Kokkos' instance; only lib/kernels sees its headers

// Exec is a handle whose copies share the instance. Make and use it only while a KernelScope lives.
class Exec {
 public:
  Exec();  // takes the default instance
  explicit Exec(std::shared_ptr<KernelSpace const> space) : m_space(std::move(space)) {}

  // Adds threads that share the work of what `Kernel::serial` binds. They must outlive the result.
  Exec with(HostPool& pool) const;
  HostPool* host_pool() const { return m_pool; }  // null: one thread does all work

  // Names the device's stream on which kernels are launched; null on a host, which has none.
  Exec on(void* stream) const;
  void* stream() const { return m_stream; }

  KernelSpace const& space() const { return *m_space; }
  bool is_on_host() const;  // whether its memory is main memory
  int concurrency() const;  // number of threads
  void fence() const;       // returns when everything launched on it is done

 private:
  std::shared_ptr<KernelSpace const> m_space;
  HostPool* m_pool = nullptr;
  void* m_stream = nullptr;
};

}  // namespace spillway
