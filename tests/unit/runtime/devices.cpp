// Devices copy and fill the bytes that are meant, and no others; the host is one as well.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "base/pages.hpp"
#include "device/host/host_device.hpp"
#include "tests/support/device_under_test.hpp"

namespace spillway::test::devices_test {
namespace {

std::vector<int> values(HostBytes bytes) {
  std::vector<int> result;
  for (auto const byte : bytes) result.push_back(std::to_integer<int>(byte));
  return result;
}

// Of 40 bytes, with one before and one behind that stay as they are.
void expect_exact_copies(Device& device) {
  auto const memory = device.reserve("memory", 4096, 8192);
  EXPECT_EQ(memory->bytes(), 4096);
  EXPECT_GE(memory->reserved_bytes(), 8192);
  Pages const pages(4096);
  auto const pinned = device.pin(pages.all());
  auto const host = pages.all();
  for (std::size_t i = 0; i < 40; ++i) host[i] = static_cast<std::byte>(i);
  auto const there = memory->at(100, 40);
  EXPECT_EQ(there.size(), 40);
  device.fill(memory->at(99, 42), std::byte{0xee});
  device.copy(there.part(1, 3), host.subspan(11, 3));
  device.copy(there.part(10, 2), there.part(2, 2));
  device.fill(there.part(20, 4), std::byte{0x7f});
  auto const back = host.subspan(200, 42);
  device.copy(back, memory->at(99, 42));
  std::vector<int> expected(42, 0xee);
  expected[2] = 11, expected[3] = expected[11] = 12, expected[4] = expected[12] = 13;
  for (std::size_t i = 21; i < 25; ++i) expected[i] = 0x7f;
  EXPECT_EQ(values(back), expected);
  EXPECT_EQ(host[199], std::byte{0});
  EXPECT_EQ(host[242], std::byte{0});
  auto const seen = device.on_device(host.subspan(8, 5));
  EXPECT_EQ(seen.size(), 5);
  device.copy(there.part(0, 5), seen);
  device.copy(back.first(5), there.part(0, 5));
  EXPECT_EQ(values(back.first(5)), (std::vector{8, 9, 10, 11, 12}));
  device.check();
}

TEST(Devices, copy_and_fill_exactly) {
  expect_exact_copies(host_device());
  DeviceUnderTest on(false);
  if (on.is_stand_in()) expect_exact_copies(on.device());
}

TEST(Devices, of_the_host_have_its_memory_and_nothing_to_wait_for) {
  auto& host = host_device();
  EXPECT_FALSE(host.has_own_memory());
  auto const properties = host.properties();
  EXPECT_EQ(properties.name, "cpu");
  EXPECT_EQ(properties.id, "cpu");
  EXPECT_EQ(properties.target, "host");
  EXPECT_EQ(properties.memory_bytes, 0);
  EXPECT_EQ(properties.free_bytes, 0);
  EXPECT_GE(properties.compute_units, 1);
  EXPECT_EQ(properties.numa_node, -1);
  Pages const pages(4096);
  EXPECT_EQ(host.pin(pages.all()), nullptr);
  EXPECT_EQ(host.stream(true), nullptr);
  EXPECT_EQ(host.event(), nullptr);
  auto const bytes = host.on_host(host.on_device(pages.all()));
  EXPECT_EQ(bytes.data(), pages.data());
  EXPECT_EQ(bytes.size(), 4096u);
}

TEST(Devices, with_memory_of_their_own_do_not_show_it_to_the_host) {
  DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  auto const memory = on.device().reserve("memory", 4096, 4096);
  EXPECT_THROW(on.device().on_host(memory->at(0, 1)), std::logic_error);
}

}  // namespace
}  // namespace spillway::test::devices_test
