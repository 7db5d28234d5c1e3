// What an Exec stands for, for those who launch kernels.
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/exec.hpp"

namespace spillway {

struct KernelSpace {
  using Instance = Kokkos::DefaultExecutionSpace;
  Instance instance;
  int concurrency = instance.concurrency();  // known ahead: asking for it may allocate
};

}  // namespace spillway
