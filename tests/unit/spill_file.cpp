#include "io/spill/spill_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

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
  SpillFile file(m_dir, 30'000, 3, true);
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

TEST_F(SpillFileTest, it_has_no_name_and_is_gone_with_its_owner) {
  {
    SpillFile const file(m_dir, 4096, 1, true);
    EXPECT_TRUE(fs::is_empty(m_dir));
  }
  EXPECT_TRUE(fs::is_empty(m_dir));
}

TEST_F(SpillFileTest, an_extent_that_was_overwritten_by_another_is_corrupt) {
  SpillFile file(m_dir, 8192, 2, true);
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
    SpillFile first(m_dir, 4096, 1, checksums, &on_read),
        second(m_dir, 4096, 1, checksums, &on_write);
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
  SpillFile file(m_dir, 4096, 1, true, &faults);
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
  SpillFile file(m_dir, extents * size, extents, true);
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
    SpillFile const file(m_dir, std::int64_t{1} << 50, 1, true);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_NE(std::string(error.what()).find("1125899906842624 bytes needed"), std::string::npos);
  }
}

TEST_F(SpillFileTest, a_missing_directory_is_bad_input) {
  try {
    SpillFile const file(m_dir / "none", 4096, 1, true);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_NE(std::string(error.what()).find((m_dir / "none").string()), std::string::npos);
  }
}

}  // namespace
}  // namespace spillway
