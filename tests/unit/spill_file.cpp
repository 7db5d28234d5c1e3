#include "io/spill/spill_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <thread>

#include "base/error.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

class SpillFileTest : public testing::Test {
 protected:
  SpillFileTest() { fs::create_directories(m_dir); }
  ~SpillFileTest() override { fs::remove_all(m_dir); }

  static std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + seed);
    return bytes;
  }

  fs::path m_dir =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SpillFileTest, extents_come_back_and_are_counted) {
  SpillFile file(m_dir, 30'000, 3, {});
  auto const a = pattern(10'000, 1), b = pattern(4'999, 2);
  std::vector<std::byte> back_a(a.size()), back_b(b.size());
  EXPECT_EQ(file.write(0, 0, a), IoResult::ok);
  EXPECT_EQ(file.write(2, 20'000, b), IoResult::ok);
  EXPECT_EQ(file.read(2, 20'000, back_b), IoResult::ok);
  EXPECT_EQ(file.read(0, 0, back_a), IoResult::ok);
  EXPECT_EQ(back_a, a);
  EXPECT_EQ(back_b, b);
  EXPECT_EQ(file.counters().written_bytes, 14'999);
  EXPECT_EQ(file.counters().read_bytes, 14'999);
}

// Places in memory and in the file that share their place in a page go by direct I/O but for their
// edges; others pass the page cache. Pieces, depths and backends change nothing.
TEST_F(SpillFileTest, extents_lie_anywhere_and_pass_every_backend) {
  constexpr std::int64_t mebibyte = 1 << 20;
  std::vector<std::byte> memory(static_cast<std::size_t>(9 * mebibyte)), back(memory.size());
  auto const page = reinterpret_cast<std::uintptr_t>(memory.data()) % 4096;
  auto const first = page == 0 ? 0 : 4096 - page;  // of a page
  for (auto const name : {"auto", "uring-plain", "posix"})
    for (int const depth : {1, 32})
      for (auto const [from, to, size] : {std::array<std::int64_t, 3>{0, 0, 3 * mebibyte},
                                          {4096, 8192, 4096},
                                          {100, 4196, 2 * mebibyte + 77},
                                          {4095, 8191, 2},
                                          {10, 20, 2 * mebibyte},
                                          {0, 4096, 4095}}) {
        SCOPED_TRACE(testing::Message() << name << " " << depth << " " << from << " " << size);
        SpillFile file(m_dir, 4 * mebibyte, 1, {.queue = {backend(name), depth, {}}});
        auto const pattern_bytes = pattern(static_cast<std::size_t>(size), 7);
        auto const bytes = std::span(memory).subspan(
            first + static_cast<std::size_t>(from), static_cast<std::size_t>(size));
        auto const again = std::span(back).subspan(
            (first + static_cast<std::size_t>(from)) % 4096, static_cast<std::size_t>(size));
        std::ranges::copy(pattern_bytes, bytes.begin());
        ASSERT_EQ(file.write(0, to, bytes), IoResult::ok) << file.first_failure();
        ASSERT_EQ(file.read(0, to, again), IoResult::ok) << file.first_failure();
        EXPECT_TRUE(std::ranges::equal(again, pattern_bytes));
        EXPECT_EQ(file.direct(), file.advice().empty());
      }
}

TEST_F(SpillFileTest, it_has_no_name_and_is_gone_with_its_owner) {
  {
    SpillFile const file(m_dir, 4096, 1, {});
    EXPECT_TRUE(fs::is_empty(m_dir));
  }
  EXPECT_TRUE(fs::is_empty(m_dir));
}

TEST_F(SpillFileTest, an_extent_that_was_overwritten_by_another_is_corrupt) {
  SpillFile file(m_dir, 8192, 2, {});
  auto const a = pattern(4096, 1), b = pattern(4096, 2);
  std::vector<std::byte> back(4096);
  EXPECT_EQ(file.write(0, 0, a), IoResult::ok);
  EXPECT_EQ(file.write(1, 2048, b), IoResult::ok);
  EXPECT_EQ(file.read(0, 0, back), IoResult::corrupt);
  EXPECT_EQ(file.first_failure(), "spill file in " + m_dir.string() +
                                     ": read of extent 0: not the bytes that were written "
                                     "(checksum differs)");
  EXPECT_EQ(file.write(0, 0, a), IoResult::ok);  // written again, it is sound again
  EXPECT_EQ(file.read(0, 0, back), IoResult::ok);
}

TEST_F(SpillFileTest, a_flipped_bit_is_found_only_by_checksums) {
  auto const bytes = pattern(4096, 1);
  std::vector<std::byte> back(4096);
  for (bool const checksums : {true, false}) {
    FaultOnNth on_read(Fault::flip_bit, 2, 0), on_write(Fault::flip_bit, 0, 1);
    SpillFile first(m_dir, 4096, 1, {.checksums = checksums, .faults = &on_read}),
        second(m_dir, 4096, 1, {.checksums = checksums, .faults = &on_write});
    auto const expected = checksums ? IoResult::corrupt : IoResult::ok;
    EXPECT_EQ(first.write(0, 0, bytes), IoResult::ok);
    EXPECT_EQ(first.read(0, 0, back), IoResult::ok);
    EXPECT_EQ(first.read(0, 0, back), expected);
    EXPECT_EQ(first.read(0, 0, back), IoResult::ok);  // it was the transfer, not the file
    EXPECT_EQ(second.write(0, 0, bytes), IoResult::ok);
    EXPECT_EQ(second.read(0, 0, back), expected);
    EXPECT_EQ(second.read(0, 0, back), expected);
  }
}

TEST_F(SpillFileTest, a_failed_transfer_is_told_with_its_reason_and_can_be_repeated) {
  FaultOnNth faults(Fault::error, 1, 2);
  SpillFile file(m_dir, 4096, 1, {.faults = &faults});
  auto const bytes = pattern(4096, 1);
  std::vector<std::byte> back(4096);
  EXPECT_EQ(file.write(0, 0, bytes), IoResult::ok);
  EXPECT_EQ(file.write(0, 0, bytes), IoResult::error);
  EXPECT_EQ(file.first_failure(),
            "spill file in " + m_dir.string() + ": write of extent 0: Input/output error");
  EXPECT_EQ(file.read(0, 0, back), IoResult::error);
  EXPECT_EQ(file.read(0, 0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
}

TEST_F(SpillFileTest, two_threads_may_use_different_extents) {
  constexpr std::int64_t extents = 64, size = 4096;
  SpillFile file(m_dir, extents * size, extents, {});
  auto const use = [&](std::int64_t begin) {
    std::vector<std::byte> back(size);
    for (std::int64_t i = begin; i < extents; i += 2) {
      auto const bytes = pattern(size, static_cast<unsigned>(i));
      EXPECT_EQ(file.write(i, i * size, bytes), IoResult::ok);
      EXPECT_EQ(file.read(i, i * size, back), IoResult::ok);
      EXPECT_EQ(back, bytes);
    }
  };
  std::thread other(use, 0);
  use(1);
  other.join();
  EXPECT_EQ(file.counters().written_bytes, extents * size);
}

TEST_F(SpillFileTest, more_than_the_disk_has_cannot_fit) {
  try {
    SpillFile const file(m_dir, std::int64_t{1} << 50, 1, {});
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_NE(std::string(error.what()).find("1125899906842624 bytes needed"), std::string::npos);
  }
}

TEST_F(SpillFileTest, a_missing_directory_is_bad_input) {
  try {
    SpillFile const file(m_dir / "none", 4096, 1, {});
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_NE(std::string(error.what()).find((m_dir / "none").string()), std::string::npos);
  }
}

}  // namespace
}  // namespace spillway
