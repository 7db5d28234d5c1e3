// What an Exec stands for, for those who launch kernels.
#pragma once

#include <Kokkos_Core.hpp>

#include "kernels/exec.hpp"

namespace spillway {

struct KernelSpace {
  using Instance = Kokkos::DefaultExecutionSpace;
  Instance instance;
};

}  // namespace spillway
