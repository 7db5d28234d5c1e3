// What an Exec stands for, for those who launch kernels.
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/exec.hpp"

namespace spillway {

// With Kokkos' deprecated code an instance's concurrency() is the default instance's.
template <class Instance>
int concurrency_of(Instance const& instance) {
  if constexpr (requires { Instance::concurrency(instance); })
    return Instance::concurrency(instance);
  else
    return instance.concurrency();
}

struct KernelSpace {
  using Instance = Kokkos::DefaultExecutionSpace;
  Instance instance;
  int concurrency = concurrency_of(instance);  // known ahead: asking for it may allocate
};

}  // namespace spillway
