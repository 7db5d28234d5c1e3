#include "kernels/host/scope.hpp"

#include <dlfcn.h>
#include <fmt/core.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

namespace {

// Kokkos would go on without a tool that it cannot open. It opens the first one of a list.
void require_tool() {
  auto const* const given = std::getenv("KOKKOS_TOOLS_LIBS");
  if (given == nullptr || *given == '\0') return;
  std::string const libraries = given;
  auto const first = libraries.substr(0, libraries.find(';'));
  if (dlopen(first.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw Error(Status::bad_input,
                fmt::format("KOKKOS_TOOLS_LIBS, --kokkos-tools-libs: {}", dlerror()));
}

}  // namespace

KernelScope::KernelScope(int threads) {
  require_tool();
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
