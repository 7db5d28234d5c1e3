#include "kernels/host/scope.hpp"

#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>

#include "kernels/portable/launch.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

KernelScope::KernelScope(int threads) {
  begin_teams(threads);
  unsetenv("KOKKOS_NUM_THREADS");  // whose value Kokkos would read in vain, or die of
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
}

KernelScope::~KernelScope() {
  Kokkos::finalize();
}

std::string device_text() {
  auto const* const space = KernelSpace::Instance::name();
  if (kOnHost) return fmt::format("cpu (Kokkos {})", space);
  return fmt::format("{} x {} (Kokkos)", Kokkos::num_devices(), space);
}

}  // namespace spillway
