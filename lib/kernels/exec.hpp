// The execution-space instance that every kernel runs on.
#pragma once

#include <memory>
#include <utility>

namespace spillway {

struct KernelSpace;  // Kokkos' instance (kernels/kernel_space.hpp): its headers stay in lib/kernels

// A handle; copies share the instance. Made and used inside the life of a KernelScope.
class Exec {
 public:
  Exec();  // the default instance
  explicit Exec(std::shared_ptr<KernelSpace const> space) : m_space(std::move(space)) {}

  KernelSpace const& space() const { return *m_space; }
  int concurrency() const;  // threads
  void fence() const;       // returns when everything launched on it is done

 private:
  std::shared_ptr<KernelSpace const> m_space;
};

}  // namespace spillway
