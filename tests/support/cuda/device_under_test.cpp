#include "tests/support/device_under_test.hpp"

#include <gtest/gtest.h>

#include "device/cuda/cuda_device.hpp"
#include "device/host/host_device.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/next_run.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test {
namespace {

cuda::NextRun g_next;

}  // namespace

void cuda::ask_of_next_run(NextRun const& next) {
  g_next = next;
}

struct DeviceUnderTest::StandIn {
  std::unique_ptr<Device> device;
};

DeviceUnderTest::DeviceUnderTest(bool unified) {
  if (unified) return;
  static std::uint64_t seed = 0;
  auto const next = std::exchange(g_next, {});
  cuda::reset(next.settings.value_or(cuda::Settings{.seed = ++seed}));
  if (next.fault) cuda::plan_fault(*next.fault);
  m_stand_in = std::make_unique<StandIn>();
  m_stand_in->device = open_cuda_device(0);
}

DeviceUnderTest::~DeviceUnderTest() {
  if (!m_stand_in) return;
  expect_sound();  // the Engines have ended
  m_stand_in.reset();
  EXPECT_EQ(cuda::leftovers(), std::vector<std::string>{});
}

bool DeviceUnderTest::is_stand_in() const {
  return m_stand_in != nullptr;
}

Device& DeviceUnderTest::device() {
  return m_stand_in ? *m_stand_in->device : host_device();
}

Kernels DeviceUnderTest::kernels() const {
  return m_stand_in ? Kernels(cuda::cuda_stand_in_kernel, kernel) : Kernels(kernel);
}

MakeWatch DeviceUnderTest::make_watch() const {
  return m_stand_in ? cuda::make_engine_order : nullptr;
}

void DeviceUnderTest::expect_sound() const {
  if (!m_stand_in) return;
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
}

}  // namespace spillway::test
