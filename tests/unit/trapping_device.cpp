// The trapping device does what it is for: the host cannot touch its bytes, copies and kernels can.
#include "tests/support/trapping_device.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "device/host/host_device.hpp"

namespace spillway::test {
namespace {

TEST(TrappingDevice, TrapsTheHost) {
  auto const memory = trapping_device().reserve("device", 8192, 0);
  auto const bytes = memory->at(4096, 16);
  EXPECT_DEATH(*static_cast<volatile char*>(bytes.operand()) = 1, "");
  EXPECT_THROW(trapping_device().on_host(bytes), std::logic_error);
  EXPECT_THROW(memory->at(8192, 1), std::logic_error);
}

TEST(TrappingDevice, CopiesAndFills) {
  for (Device* const device : {&host_device(), &trapping_device()}) {
    auto const memory = device->reserve("device", 64, 0);
    std::vector<std::byte> from(24), to(32, std::byte{9});
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i);
    device->copy(memory->at(3, 24), HostBytes(from));
    device->fill(memory->at(5, 2), std::byte{0xff});
    device->copy(memory->at(32, 32), memory->at(0, 32));
    device->copy(HostBytes(to), memory->at(32, 32));
    std::vector<std::byte> expected(32);
    for (std::size_t i = 0; i < from.size(); ++i) expected[3 + i] = from[i];
    expected[5] = expected[6] = std::byte{0xff};
    EXPECT_EQ(to, expected);
  }
}

}  // namespace
}  // namespace spillway::test
