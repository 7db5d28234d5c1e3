// Without CUDA's headers tests run every Program on the host.
#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "tests/support/device_under_test.hpp"

namespace spillway::test {

bool device_has_own_kernels() {
  return false;
}

void set_kernels_of_device(Graph&) {}

struct DeviceUnderTest::StandIn {};

DeviceUnderTest::DeviceUnderTest(bool) {}
DeviceUnderTest::~DeviceUnderTest() = default;

bool DeviceUnderTest::is_stand_in() const {
  return false;
}

Device& DeviceUnderTest::device() {
  return host_device();
}

Kernels DeviceUnderTest::kernels() const {
  return host::kernels();
}

MakeWatch DeviceUnderTest::make_watch() const {
  return nullptr;
}

void DeviceUnderTest::expect_sound() const {}

}  // namespace spillway::test
