// Gives the program spillway_on_ptx its devices, which are the module's on the stand-in.
#include <filesystem>

#include "app/device_backend.hpp"
#include "tests/support/cuda/program/judge.hpp"
#include "tests/support/cuda/under_test/module_on_stand_in.hpp"

namespace spillway {

FoundBackend const& device_backend() {
  // Where CUDA fails, Kokkos leaves what it has to the end of the process.
  test::cuda::begin_judged(test::cuda::AfterFault::may_leave);
  static auto const found = test::cuda::open_module_on_stand_in(SPILLWAY_CUDA_MODULE_FILE);
  return found;
}

}  // namespace spillway
