// Opens the module for CUDA devices on a real one before the first test, for KernelHarness.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "run/device_module.hpp"
#include "tests/support/kernel_device.hpp"
#include "tests/support/run_tests.hpp"

namespace spillway::test {
namespace {

FoundBackend const& found() {
  static auto const module = open_device_module(SPILLWAY_CUDA_MODULE_FILE, &kCudaDriver);
  return module;
}

std::string why_none() {
  bool const there = count_devices(found().backend) > 0;
  auto const why = there ? why_not(*found().backend, 0) : why_no_device(found());
  return why.empty() ? "" : "no device: " + why;
}

class GpuEnvironment : public ::testing::Environment {
  void SetUp() override {
    m_device = found().backend->open(0);
    auto const kernels = found().backend->begin_kernels(*m_device);
    m_kernels.emplace(*m_device, kernels);
    set_kernel_device(&*m_kernels);
  }

  void TearDown() override {
    set_kernel_device(nullptr);
    if (m_kernels) {
      m_kernels.reset();
      found().backend->end_kernels();
    }
    m_device.reset();
  }

  std::unique_ptr<Device> m_device;
  std::optional<KernelDevice> m_kernels;
};

[[maybe_unused]] bool const skips = skip_all_tests_if(why_none);
[[maybe_unused]] bool const added = [] {
  ::testing::AddGlobalTestEnvironment(new GpuEnvironment);
  return true;
}();

}  // namespace
}  // namespace spillway::test
