#include "tests/support/guarded.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace spillway::test {
namespace {

constexpr std::byte kGuard{0xA5};

}  // namespace

std::vector<std::byte> guarded(std::vector<std::byte> const& bytes) {
  std::vector<std::byte> result(bytes.size() + 2 * kGuardBytes, kGuard);
  std::ranges::copy(bytes, result.begin() + kGuardBytes);
  return result;
}

std::vector<std::byte> unguarded(std::vector<std::byte> const& bytes, std::string const& what) {
  auto const first = bytes.begin() + kGuardBytes, last = bytes.end() - kGuardBytes;
  auto const is_guard = [](std::byte b) { return b == kGuard; };
  EXPECT_TRUE(std::all_of(bytes.begin(), first, is_guard)) << "written before " << what;
  EXPECT_TRUE(std::all_of(last, bytes.end(), is_guard)) << "written behind " << what;
  return {first, last};
}

}  // namespace spillway::test
