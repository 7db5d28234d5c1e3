// What is said of the devices of a machine, and which runs compute beside one.
#include <gtest/gtest.h>

#include "app/device_backend.hpp"
#include "app/devices.hpp"
#include "base/error.hpp"

namespace spillway::devices_here_test {
namespace {

int g_count = 0;

int count() noexcept {
  return g_count;
}

// None of them can be used.
std::unique_ptr<Device> open(int number) {
  throw Error(Status::device, number == 0 ? "sleeps" : "is hot");
}

std::string why_none() {
  return "nobody made any";
}

int g_older_than = 0;  // devices with a smaller number are too old

std::string why_not(int number) {
  return number < g_older_than ? "is too old" : "";
}

}  // namespace
}  // namespace spillway::devices_here_test

// The one definition of this program.
spillway::FoundBackend const& spillway::device_backend() {
  namespace test = spillway::devices_here_test;
  static DeviceBackend const backend{.name = "toy",
                                     .count = test::count,
                                     .why_none = test::why_none,
                                     .why_not = test::why_not,
                                     .open = test::open};
  static FoundBackend const found{&backend};
  return found;
}

namespace spillway::devices_here_test {
namespace {

TEST(DevicesHere, that_cannot_be_used_are_named_with_the_reason) {
  g_count = 0;
  EXPECT_EQ(devices_text(), "  no GPU            nobody made any\n");
  g_count = 2;
  EXPECT_EQ(devices_text(),
            "  toy:0             cannot be used: sleeps\n"
            "  toy:1             cannot be used: is hot\n");
  g_older_than = 1;
  EXPECT_EQ(devices_text(),
            "  toy:0             cannot be used: is too old\n"
            "  toy:1             cannot be used: is hot\n")
      << "what is too old is not opened";
  g_older_than = 0;
}

TEST(DevicesHere, are_computed_beside_where_there_are_some_and_nobody_wants_the_cores) {
  Config config;
  auto const where = [&](int devices, char const* device) {
    g_count = devices;
    config.run.device = device;
    return where_it_computes(config);
  };
  EXPECT_EQ(where(0, "auto"), ForMachine::here);
  EXPECT_EQ(where(1, "auto"), ForMachine::here_beside_device);
  EXPECT_EQ(where(1, "toy:0"), ForMachine::here_beside_device);
  EXPECT_EQ(where(1, "cpu"), ForMachine::here);
  EXPECT_EQ(where(0, "toy"), ForMachine::here) << "which is refused later";
  g_older_than = 2;
  EXPECT_EQ(where(2, "auto"), ForMachine::here) << "none can be used";
  EXPECT_EQ(where(3, "auto"), ForMachine::here_beside_device);
  g_older_than = 0;
}

}  // namespace
}  // namespace spillway::devices_here_test
