#include "tests/support/kokkos_environment.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <memory>

namespace spillway::test {
namespace {

class KokkosEnvironment : public ::testing::Environment {
  void SetUp() override { m_scope = std::make_unique<Kokkos::ScopeGuard>(); }
  void TearDown() override { m_scope.reset(); }

  std::unique_ptr<Kokkos::ScopeGuard> m_scope;
};

}  // namespace

bool add_kokkos_environment() {
  static auto* const environment = ::testing::AddGlobalTestEnvironment(new KokkosEnvironment);
  return environment != nullptr;
}

}  // namespace spillway::test
