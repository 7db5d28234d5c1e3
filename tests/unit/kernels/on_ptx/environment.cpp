// Opens the module for CUDA devices on the stand-in before the first test, for KernelHarness. The
// sample decides in which order blocks and warps run.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/settings.hpp"
#include "tests/support/cuda/under_test/module_on_stand_in.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

class ModuleEnvironment : public ::testing::Environment {
  void SetUp() override {
    cuda::reset({.seed = turn_of(std::uint64_t{1} << 30), .memory_bytes = std::int64_t{4} << 30});
    m_found = cuda::open_module_on_stand_in(SPILLWAY_CUDA_MODULE_FILE);
    ASSERT_NE(m_found.backend, nullptr) << m_found.trouble;
    m_device = m_found.backend->open(0);
    auto const kernels = m_found.backend->begin_kernels(*m_device);
    m_kernels.emplace(*m_device, kernels);
    set_kernel_device(&*m_kernels);
  }

  void TearDown() override {
    set_kernel_device(nullptr);
    if (m_kernels) {
      m_kernels.reset();
      m_found.backend->end_kernels();
    }
    m_device.reset();
    EXPECT_EQ(cuda::leftovers(), std::vector<std::string>{});
  }

  FoundBackend m_found;
  std::unique_ptr<Device> m_device;
  std::optional<KernelDevice> m_kernels;
};

// Fails each test during which the stand-in has complained. Before each, an event is asked that is
// not done, which runtimes may note: no launch fails of it.
class AroundTests : public ::testing::EmptyTestEventListener {
  void OnTestStart(::testing::TestInfo const&) override {
    cuda::plan_fault({.call = "cudaEventQuery",
                      .n = cuda::calls()["cudaEventQuery"],
                      .error = cudaErrorNotReady});
    cudaEventQuery(nullptr);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorNotReady);
  }
  void OnTestEnd(::testing::TestInfo const&) override {
    auto const all = cuda::complaints();
    for (auto i = m_told; i < all.size(); ++i) ADD_FAILURE() << all[i];
    m_told = all.size();
  }

  std::size_t m_told = 0;
};

[[maybe_unused]] bool const added = [] {
  ::testing::AddGlobalTestEnvironment(new ModuleEnvironment);
  ::testing::UnitTest::GetInstance()->listeners().Append(new AroundTests);
  return true;
}();

}  // namespace
}  // namespace spillway::test
