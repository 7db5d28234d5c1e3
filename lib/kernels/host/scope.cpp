#include "kernels/host/scope.hpp"

#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>

#include "kernels/host/team/team.hpp"

namespace spillway {

KernelScope::KernelScope(int threads) {
  begin_teams(threads);
  // Kokkos would read the value of KOKKOS_NUM_THREADS without using it, and abort if the value is
  // no number.
  unsetenv("KOKKOS_NUM_THREADS");
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
}

KernelScope::~KernelScope() {
  Kokkos::finalize();
}

std::string device_text() {
  return fmt::format("cpu (Kokkos {})", Kokkos::DefaultHostExecutionSpace::name());
}

}  // namespace spillway
