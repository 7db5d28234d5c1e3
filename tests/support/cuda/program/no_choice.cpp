#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/program/choice.hpp"

namespace spillway::test::cuda {

KernelTable choosing_kernels() {
  return cuda_stand_in_kernels();
}

}  // namespace spillway::test::cuda
