#include "kernels/scope.hpp"

#include <Kokkos_Core.hpp>

namespace spillway {

KernelScope::KernelScope(int threads) {
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
}

KernelScope::~KernelScope() {
  Kokkos::finalize();
}

}  // namespace spillway
