#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/cuda/checked_device.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/engine_order.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/next_run.hpp"
#include "tests/support/cuda/order.hpp"
#include "tests/support/cuda/settings.hpp"
#include "tests/support/device_under_test.hpp"

namespace spillway::test {
namespace {

cuda::NextRun g_next;

void expect_place_in_failures(Device& device) {
  try {
    device.reserve("all there is", std::int64_t{1} << 60, 0);
    ADD_FAILURE() << "no device has as much";
  } catch (Error const& error) {
    std::string_view const text = error.what();
    EXPECT_EQ(error.status(), Status::cannot_fit) << text;
    EXPECT_NE(text.find(" at 0000:"), text.npos) << text;
    EXPECT_EQ(text.find(" 0 B"), text.npos) << text;
  }
}

}  // namespace

void cuda::ask_of_next_run(NextRun const& next) {
  g_next = next;
}

bool device_has_own_kernels() {
  return false;
}

void set_kernels_of_device(Graph&) {}

struct DeviceUnderTest::StandIn {
  std::unique_ptr<Device> device;
  bool fails = false;
};

DeviceUnderTest::DeviceUnderTest(bool unified) {
  if (unified) return;
  static std::uint64_t seed = 0;
  auto const next = std::exchange(g_next, {});
  auto const settings = next.settings.value_or(cuda::Settings{.seed = ++seed});
  cuda::reset(settings);
  if (next.fault) cuda::plan_fault(*next.fault);
  m_stand_in = std::make_unique<StandIn>();
  if (next.dropped_release) cuda::drop_release(*next.dropped_release);
  bool const may_go_on = !next.fault || next.fault->kind == cuda::PlannedFault::Kind::dropped;
  m_stand_in->fails = !may_go_on || next.dropped_release;
  m_stand_in->device = cuda::checked(open_cuda_device(settings.devices - 1));
}

DeviceUnderTest::~DeviceUnderTest() {
  if (!m_stand_in) return;
  bool const fails = m_stand_in->fails;
  m_stand_in.reset();
  if (fails) return;
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
  EXPECT_EQ(cuda::leftovers(), std::vector<std::string>{});
}

bool DeviceUnderTest::is_stand_in() const {
  return m_stand_in != nullptr;
}

Device& DeviceUnderTest::device() {
  return m_stand_in ? *m_stand_in->device : host_device();
}

Kernels DeviceUnderTest::kernels() const {
  return m_stand_in ? Kernels(cuda::cuda_stand_in_kernels(), host::kernel)
                    : Kernels(host::kernels());
}

MakeWatch DeviceUnderTest::make_watch() const {
  return m_stand_in ? cuda::make_engine_order : nullptr;
}

void DeviceUnderTest::expect_sound() const {
  if (!m_stand_in || m_stand_in->fails) return;  // the test that planned a fault checks the rest
  expect_place_in_failures(*m_stand_in->device);
  EXPECT_EQ(cuda::complaints(), std::vector<std::string>{});
}

}  // namespace spillway::test
