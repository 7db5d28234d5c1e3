#include "profile/operand_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

TEST(OperandMemory, RepeatsAPatternToTheLastByteAndNoFurther) {
  for (std::int64_t const pattern_bytes : {1, 3, 8, 59})
    for (std::int64_t const bytes : {0, 1, 7, 16, 58, 59}) expect_repeated(pattern_bytes, bytes);
}

}  // namespace
}  // namespace spillway::operand_memory_test
