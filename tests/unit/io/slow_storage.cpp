// Storage that becomes slow and stays sound.
#include "io/ring/slow_storage.hpp"

#include <gtest/gtest.h>

#include "tests/support/spill_file_fixture.hpp"

namespace spillway::test::slow_storage_test {
namespace {

class Slow : public SpillFileTest {
 protected:
  // A queue that passes `bytes_per_s` from the third operation on.
  SpillFile file(double bytes_per_s) {
    return SpillFile(m_dir, 8 * kMebibyte, {},
                     {std::make_unique<ScriptedQueue>(4, 1, SlowStorage(4, 3, bytes_per_s)), ""});
  }
};

TEST_F(Slow, storage_takes_at_least_its_time_from_the_nth_operation_on) {
  auto slow = file(20.0 * kMebibyte);
  auto const bytes = pattern(kMebibyte, 1);
  for (std::int64_t i = 0; i < 2; ++i) slow.write(i * kMebibyte, bytes);
  auto const begin = SteadyClock::now();
  for (std::int64_t i = 0; i < 4; ++i) slow.write(i * kMebibyte, bytes);
  EXPECT_GE(seconds_since(begin), 4 / 20.0);
}

// The whole test would take a month.
TEST_F(Slow, storage_is_not_slow_before) {
  auto quick = file(1e-6 * kMebibyte);
  auto bytes = pattern(kMebibyte, 2);
  auto const before = bytes;
  EXPECT_EQ(quick.write(0, bytes), IoResult::ok);
  std::ranges::fill(bytes, std::byte{0});
  EXPECT_EQ(quick.read(0, bytes), IoResult::ok);
  EXPECT_EQ(bytes, before);
}

// One after the other, not each for itself.
TEST_F(Slow, storage_does_not_do_things_at_the_same_time) {
  auto slow = file(40.0 * kMebibyte);
  auto bytes = pattern(4 * kMebibyte, 3);
  auto const begin = SteadyClock::now();
  for (int i = 0; i < 4; ++i) {
    slow.begin({Direction::write, part(bytes, i * kMebibyte, kMebibyte), i * kMebibyte,
                static_cast<std::uint64_t>(i)});
  }
  for (auto const& [tag, result] : finish(slow)) EXPECT_EQ(result, IoResult::ok) << tag;
  EXPECT_GE(seconds_since(begin), 2 / 40.0);
}

}  // namespace
}  // namespace spillway::test::slow_storage_test
