#include "kernels/scope.hpp"

#include <fmt/core.h>

#include <Kokkos_Core.hpp>

#include "kernels/launch.hpp"

namespace spillway {

KernelScope::KernelScope(int threads) {
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
