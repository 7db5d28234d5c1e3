#include "profile/operand_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/device_under_test.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::operand_memory_test {
namespace {

// Byte i of a pattern is i, so that each byte tells where in the pattern it comes from.
void expect_repeated(std::int64_t pattern_bytes, std::int64_t bytes) {
  OperandMemory memory;
  memory.need(64);
  auto* const all = static_cast<std::byte*>(memory.at(0));
  std::fill_n(all, 64, std::byte{99});
  std::vector<std::byte> pattern, expected(all, all + 64);
  for (std::int64_t i = 0; i < pattern_bytes; ++i) pattern.push_back(static_cast<std::byte>(i));
  memory.repeat(pattern, 5, bytes);
  for (std::int64_t i = 0; i < bytes; ++i)
    expected[static_cast<std::size_t>(5 + i)] = static_cast<std::byte>(i % pattern_bytes);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), all))
      << pattern_bytes << " bytes in " << bytes;
}

TEST(OperandMemory, repeats_a_pattern_to_the_last_byte_and_no_further) {
  for (std::int64_t const pattern_bytes : {1, 3, 8, 59})
    for (std::int64_t const bytes : {0, 1, 7, 16, 58, 59}) expect_repeated(pattern_bytes, bytes);
}

void expect_repeated_on(Device& device, std::int64_t pattern_bytes, std::int64_t bytes) {
  OperandMemory memory(&device);
  memory.need(64);
  std::vector<std::byte> pattern, background(1, std::byte{99}), expected(64, std::byte{99});
  for (std::int64_t i = 0; i < pattern_bytes; ++i) pattern.push_back(static_cast<std::byte>(i));
  for (std::int64_t i = 0; i < bytes; ++i)
    expected[static_cast<std::size_t>(5 + i)] = static_cast<std::byte>(i % pattern_bytes);
  memory.repeat(background, 0, 64);
  memory.repeat(pattern, 5, bytes);
  auto* const first = memory.at(0);
  EXPECT_EQ(memory.at(5), static_cast<std::byte*>(first) + 5);
  std::vector<std::byte> there(64);
  device.copy(HostBytes(there), DeviceBytes(first, 64));
  EXPECT_EQ(there, expected) << pattern_bytes << " bytes in " << bytes;
  memory.need(32);
  EXPECT_EQ(memory.at(0), first) << "there are as many";
}

TEST(OperandMemory, of_a_device_repeats_a_pattern_there) {
  test::DeviceUnderTest on(false);
  if (!on.is_stand_in()) GTEST_SKIP() << "there is no stand-in without CUDA's headers";
  for (std::int64_t const pattern_bytes : {1, 3, 8, 59})
    for (std::int64_t const bytes : {0, 1, 7, 16, 58, 59})
      expect_repeated_on(on.device(), pattern_bytes, bytes);
  on.expect_sound();
}

TEST(OperandMemory, that_the_system_does_not_give_is_named) {
  OperandMemory memory;
  EXPECT_EQ(test::refused_with([&] { memory.need(std::int64_t{1} << 60); }, Status::cannot_fit),
            "memory for measurements: the system does not give 1024 PiB: Cannot allocate memory");
}

TEST(OperandMemory, grows_where_more_is_needed_and_only_then) {
  OperandMemory memory;
  memory.need(4096);
  auto* const first = memory.at(0);
  memory.need(4096);
  memory.need(1);
  EXPECT_EQ(memory.at(0), first);
  memory.need(std::int64_t{5} << 20);
  std::fill_n(static_cast<std::byte*>(memory.at(0)), std::int64_t{5} << 20, std::byte{1});
  EXPECT_EQ(*static_cast<std::byte*>(memory.at((std::int64_t{5} << 20) - 1)), std::byte{1});
}

}  // namespace
}  // namespace spillway::operand_memory_test
