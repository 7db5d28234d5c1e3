#include "profile/noise.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace spillway::noise_test {
namespace {

// Storage that compresses or keeps equal blocks once would seem faster than it is.
TEST(Noise, has_no_word_twice) {
  std::vector<std::uint64_t> words(1 << 14);
  fill_with_noise(std::as_writable_bytes(std::span(words)));
  EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size());
  EXPECT_NE(words.back(), 0u);
}

}  // namespace
}  // namespace spillway::noise_test
