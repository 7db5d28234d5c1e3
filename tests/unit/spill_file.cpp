#include "io/spill/spill_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "base/error.hpp"
#include "io/ring/scripted_queue.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kKibibyte = 1024, kMebibyte = 1024 * kKibibyte;
constexpr double kLong = 60;  // seconds: never reached

class SpillFileTest : public testing::Test {
 protected:
  SpillFileTest() { fs::create_directories(m_dir); }
  ~SpillFileTest() override { fs::remove_all(m_dir); }

  static std::vector<std::byte> pattern(std::int64_t size, unsigned seed) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    std::minstd_rand random(seed + 1);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
    return bytes;
  }
  static std::span<std::byte> part(std::vector<std::byte>& bytes, std::int64_t first,
                                   std::int64_t size) {
    return std::span(bytes).subspan(static_cast<std::size_t>(first),
                                    static_cast<std::size_t>(size));
  }
  // The n-th transfer, as its tag says, with all results that were waited for.
  static std::map<std::uint64_t, IoResult> finish(SpillFile& file) {
    std::map<std::uint64_t, IoResult> results;
    while (file.under_way() > 0) {
      auto const done = file.wait(kLong);
      if (!done) continue;
      EXPECT_TRUE(results.emplace(done->tag, done->result).second) << "done twice";
    }
    return results;
  }
  SpillFile with_fates(ScriptedQueue::Script fate, std::int64_t size, SpillSettings settings = {},
                       int depth = 4) {
    return SpillFile(m_dir, size, settings,
                     MadeQueue{std::make_unique<ScriptedQueue>(depth, 1, std::move(fate)), ""});
  }

  fs::path m_dir =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::int64_t all_of(TransferRequest const& request) {
  return static_cast<std::int64_t>(request.memory.size());
}

TEST_F(SpillFileTest, ranges_come_back_and_are_counted) {
  SpillFile file(m_dir, 3 * kSpillAlignment, {});
  auto const a = pattern(10'000, 1), b = pattern(4'999, 2);
  std::vector<std::byte> back_a(a.size()), back_b(b.size());
  EXPECT_EQ(file.write(0, a), IoResult::ok);
  EXPECT_EQ(file.write(2 * kSpillAlignment, b), IoResult::ok);
  EXPECT_EQ(file.read(2 * kSpillAlignment, back_b), IoResult::ok);
  EXPECT_EQ(file.read(0, back_a), IoResult::ok);
  EXPECT_EQ(back_a, a);
  EXPECT_EQ(back_b, b);
  EXPECT_EQ(file.counters().written_bytes, 14'999);
  EXPECT_EQ(file.counters().read_bytes, 14'999);
  EXPECT_GT(file.counters().write_s, 0);
  EXPECT_GT(file.counters().read_s, 0);
  EXPECT_EQ(file.first_failure(), "");
}

// Memory on a page goes by direct I/O but for a last part of a page; other memory passes the page
// cache. Pieces, depths and backends change nothing.
TEST_F(SpillFileTest, memory_lies_anywhere_and_passes_every_backend) {
  auto memory = pattern(4 * kMebibyte, 7);
  std::vector<std::byte> back(memory.size());
  auto const to_page = [](std::vector<std::byte> const& bytes) {
    return static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096);
  };
  for (auto const name : {"auto", "uring-plain", "posix"})
    for (int const depth : {1, 32})
      for (auto const [from, to, size] : {std::array<std::int64_t, 3>{0, 0, 3 * kMebibyte},
                                          {4096, 3 * kSpillAlignment, 4096},
                                          {100, kSpillAlignment, 2 * kMebibyte + 77},
                                          {0, kSpillAlignment, 2 * kMebibyte + 77},
                                          {4095, kSpillAlignment, 2},
                                          {0, kSpillAlignment, 4095}}) {
        SCOPED_TRACE(testing::Message() << name << " " << depth << " " << from << " " << size);
        SpillFile file(m_dir, 4 * kMebibyte, {.queue = {backend(name), depth, {}}});
        auto const bytes = part(memory, to_page(memory) + from, size);
        auto const again = part(back, to_page(back) + from, size);
        std::ranges::fill(back, std::byte{0});
        ASSERT_EQ(file.write(to, bytes), IoResult::ok) << file.first_failure();
        ASSERT_EQ(file.read(to, again), IoResult::ok) << file.first_failure();
        EXPECT_TRUE(std::ranges::equal(again, bytes));
        EXPECT_EQ(file.direct(), file.advice().empty());
      }
}

// More transfers than pieces of the queue, of both directions, in all sizes.
TEST_F(SpillFileTest, transfers_overlap_and_each_ends_once) {
  constexpr std::int64_t count = 20, slot = 2 * kMebibyte;
  for (auto const name : {"auto", "uring-plain", "posix"})
    for (int const depth : {1, 3, 32}) {
      SCOPED_TRACE(testing::Message() << name << " " << depth);
      SpillFile file(m_dir, 2 * count * slot,
                     {.queue = {backend(name), depth, {}}, .transfers = 2 * count});
      std::vector<std::vector<std::byte>> old, fresh, back;
      for (std::int64_t i = 0; i < count; ++i) {
        old.push_back(pattern(1 + i * 100'003, static_cast<unsigned>(i)));
        fresh.push_back(pattern(1 + (count - i) * 100'003, static_cast<unsigned>(count + i)));
        back.emplace_back(old.back().size());
        ASSERT_EQ(file.write(i * slot, old.back()), IoResult::ok);
      }
      for (std::int64_t i = 0; i < count; ++i) {
        auto const n = static_cast<std::size_t>(i);
        file.begin({Direction::read, back[n], i * slot, 2 * n});
        file.begin({Direction::write, fresh[n], (count + i) * slot, 2 * n + 1});
      }
      EXPECT_TRUE(file.full());
      auto const results = finish(file);
      ASSERT_EQ(results.size(), static_cast<std::size_t>(2 * count));
      for (auto const& [tag, result] : results) EXPECT_EQ(result, IoResult::ok) << tag;
      EXPECT_EQ(back, old);
      for (std::int64_t i = 0; i < count; ++i) {
        auto again = std::vector<std::byte>(fresh[static_cast<std::size_t>(i)].size());
        ASSERT_EQ(file.read((count + i) * slot, again), IoResult::ok);
        EXPECT_EQ(again, fresh[static_cast<std::size_t>(i)]);
      }
    }
}

TEST_F(SpillFileTest, reads_and_writes_take_turns) {
  std::vector<Direction> order;
  auto const note = [&](TransferRequest const& request) {
    order.push_back(request.direction);
    return all_of(request);
  };
  auto file = with_fates(note, 32 * kMebibyte, {}, 1);
  auto bytes = pattern(8 * kMebibyte, 1), back = bytes;
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  order.clear();
  file.begin({Direction::write, bytes, 16 * kMebibyte, 1});
  file.begin({Direction::read, back, 0, 2});
  finish(file);
  ASSERT_EQ(order.size(), 16u);
  for (std::size_t i = 1; i < 16; ++i) EXPECT_NE(order[i], order[i - 1]) << i;
}

TEST_F(SpillFileTest, what_is_written_whole_is_read_in_parts) {
  constexpr std::int64_t at = 3 * kSpillAlignment, size = 3 * kMebibyte + 12'345;
  SpillFile file(m_dir, 5 * kMebibyte, {});
  auto const bytes = pattern(size, 3);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(at, bytes), IoResult::ok);
  file.begin(
      {Direction::read, part(back, 2 * kMebibyte, size - 2 * kMebibyte), at + 2 * kMebibyte, 1});
  file.begin({Direction::read, part(back, 0, kMebibyte), at, 2});
  file.begin({Direction::read, part(back, kMebibyte, kMebibyte), at + kMebibyte, 3});
  for (auto const& [tag, result] : finish(file)) EXPECT_EQ(result, IoResult::ok) << tag;
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(file.read(at, part(back, 0, kMebibyte - 1)), IoResult::corrupt) << "half a piece";
}

TEST_F(SpillFileTest, it_has_no_name_and_is_gone_with_its_owner) {
  {
    SpillFile const file(m_dir, 4096, {});
    EXPECT_TRUE(fs::is_empty(m_dir));
  }
  EXPECT_TRUE(fs::is_empty(m_dir));
}

TEST_F(SpillFileTest, a_range_that_another_has_overwritten_is_corrupt) {
  SpillFile file(m_dir, 4 * kSpillAlignment, {});
  auto const a = pattern(2 * kSpillAlignment, 1), b = pattern(kSpillAlignment, 2);
  std::vector<std::byte> back(a.size());
  EXPECT_EQ(file.write(0, a), IoResult::ok);
  EXPECT_EQ(file.write(kSpillAlignment, b), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::corrupt);
  EXPECT_EQ(file.first_failure(), "spill file in " + m_dir.string() +
                                      ": read of 131072 bytes at 0: not the bytes that were "
                                      "written (checksum differs)");
  EXPECT_EQ(file.write(0, a), IoResult::ok);  // written again, it is sound again
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  file.forget_failure();
  EXPECT_EQ(file.first_failure(), "");
}

TEST_F(SpillFileTest, a_flipped_bit_is_found_only_by_checksums) {
  auto const bytes = pattern(4096, 1);
  std::vector<std::byte> back(4096);
  for (bool const checksums : {true, false}) {
    FaultOnNth on_read(Fault::flip_bit, 2, 0), on_write(Fault::flip_bit, 0, 1);
    SpillFile first(m_dir, 4096, {.checksums = checksums, .faults = &on_read}),
        second(m_dir, 4096, {.checksums = checksums, .faults = &on_write});
    auto const expected = checksums ? IoResult::corrupt : IoResult::ok;
    EXPECT_EQ(first.write(0, bytes), IoResult::ok);
    EXPECT_EQ(first.read(0, back), IoResult::ok);
    EXPECT_EQ(first.read(0, back), expected);
    EXPECT_EQ(first.read(0, back), IoResult::ok);  // it was the transfer, not the file
    EXPECT_EQ(second.write(0, bytes), IoResult::ok);
    EXPECT_EQ(second.read(0, back), expected);
    EXPECT_EQ(second.read(0, back), expected);
  }
}

TEST_F(SpillFileTest, a_failed_transfer_is_told_with_its_reason_and_can_be_repeated) {
  FaultOnNth faults(Fault::error, 1, 2);
  SpillFile file(m_dir, 4 * kMebibyte, {.faults = &faults});
  auto const bytes = pattern(3 * kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  EXPECT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.write(0, bytes), IoResult::error);
  EXPECT_EQ(file.first_failure(), "spill file in " + m_dir.string() +
                                      ": write of 3145728 bytes at 0: Input/output error");
  EXPECT_EQ(file.read(0, back), IoResult::error);
  EXPECT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(file.counters().moved_pieces, 1) << "the piece that failed";
}

TEST_F(SpillFileTest, a_piece_that_fails_once_is_tried_again_in_its_place) {
  std::map<Direction, int> failures;
  auto const once = [&](TransferRequest const& request) {
    return failures[request.direction]++ == 1 ? -EIO : all_of(request);
  };
  auto file = with_fates(once, 3 * kMebibyte);
  auto const bytes = pattern(3 * kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  EXPECT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(file.counters().moved_pieces, 0);
  EXPECT_EQ(file.counters().written_bytes, 3 * kMebibyte);
}

// A megabyte of the disk that takes no writes, and a spare place that takes none either.
TEST_F(SpillFileTest, a_piece_that_cannot_be_written_lives_elsewhere) {
  constexpr std::int64_t size = 4 * kMebibyte;
  auto const fate = [&](TransferRequest const& request) -> std::int64_t {
    bool const bad = request.offset_bytes / kMebibyte == 1 || request.offset_bytes == size;
    return bad && request.direction == Direction::write ? -EIO : all_of(request);
  };
  auto file = with_fates(fate, size);
  for (unsigned seed = 1; seed < 4; ++seed) {
    auto const bytes = pattern(size - 5000, seed);
    std::vector<std::byte> back(bytes.size());
    ASSERT_EQ(file.write(0, bytes), IoResult::ok);
    ASSERT_EQ(file.read(0, back), IoResult::ok);
    EXPECT_EQ(back, bytes);
    auto const one = part(back, kMebibyte, kMebibyte);
    ASSERT_EQ(file.read(kMebibyte, one), IoResult::ok) << "the part alone";
    EXPECT_EQ(file.counters().moved_pieces, 2) << "only once away from each bad place";
  }
}

TEST_F(SpillFileTest, a_piece_that_comes_back_corrupt_moves_when_it_is_written_next) {
  constexpr std::int64_t size = 2 * kMebibyte;
  // What is written at the beginning of the file is not what it was when it was checksummed.
  auto const fate = [](TransferRequest const& request) {
    bool const spoils = request.direction == Direction::write && request.offset_bytes == 0;
    if (spoils) request.memory[9] ^= std::byte{1};
    return all_of(request);
  };
  auto file = with_fates(fate, size);
  auto bytes = pattern(size, 1);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::corrupt);
  EXPECT_EQ(file.read(0, back), IoResult::corrupt);
  EXPECT_EQ(file.counters().moved_pieces, 0);
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.counters().moved_pieces, 1);
  EXPECT_EQ(file.read(0, back), IoResult::ok) << "it does not lie where it was spoiled";
  EXPECT_EQ(back, bytes);
}

// It may have been a passing trouble of the read.
TEST_F(SpillFileTest, a_piece_that_could_not_be_read_is_where_it_was_until_it_is_written) {
  bool fails = true;
  auto const fate = [&](TransferRequest const& request) -> std::int64_t {
    return fails && request.direction == Direction::read ? -EIO : all_of(request);
  };
  auto file = with_fates(fate, kMebibyte);
  auto const bytes = pattern(kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::error);
  fails = false;
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
}

TEST_F(SpillFileTest, without_spares_a_write_fails) {
  auto const fate = [](TransferRequest const& request) -> std::int64_t {
    return request.direction == Direction::write ? -ENOSPC : all_of(request);
  };
  auto const bytes = pattern(3 * kMebibyte, 1);
  for (std::int64_t const spares : {0, 5}) {
    auto file = with_fates(fate, 3 * kMebibyte, {.spare_bytes = spares * kMebibyte});
    EXPECT_EQ(file.write(0, bytes), IoResult::error);
    EXPECT_TRUE(file.first_failure().ends_with("No space left on device")) << file.first_failure();
    EXPECT_EQ(file.counters().moved_pieces, spares);
  }
}

TEST_F(SpillFileTest, storage_that_does_not_answer_has_failed_for_good) {
  auto const fate = [](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (request.direction == Direction::read) return {};
    return all_of(request);
  };
  auto file = with_fates(fate, 8 * kMebibyte, {.patience_s = 0.05}, 2);
  auto bytes = pattern(3 * kMebibyte, 1), back = bytes, more = bytes;
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  file.begin({Direction::read, back, 0, 1});
  file.begin({Direction::read, more, 0, 2});
  EXPECT_FALSE(file.wait(0.001)) << "not yet";
  EXPECT_EQ(finish(file),
            (std::map<std::uint64_t, IoResult>{{1, IoResult::error}, {2, IoResult::error}}));
  auto const told = file.first_failure();
  EXPECT_NE(told.find("no answer for 0.05 s: read of 1048576 bytes at 0 for 0."), told.npos)
      << told;
  EXPECT_NE(told.find("read of 1048576 bytes at 1048576 for 0."), told.npos) << told;
  EXPECT_EQ(file.write(0, bytes), IoResult::error);
}

TEST_F(SpillFileTest, a_wait_is_ended_by_another_thread) {
  auto const never = [](TransferRequest const&) { return std::optional<std::int64_t>(); };
  auto file = with_fates(never, kMebibyte, {.patience_s = kLong});
  auto bytes = pattern(4096, 1);
  EXPECT_FALSE(file.wait(kLong)) << "nothing is under way";
  file.begin({Direction::write, bytes, 0, 1});
  for (int i = 0; i < 100; ++i) {
    std::jthread const other([&] { file.wake(); });
    EXPECT_FALSE(file.wait(kLong));
  }
  EXPECT_EQ(file.under_way(), 1);
}

TEST_F(SpillFileTest, more_than_the_disk_has_cannot_fit) {
  try {
    SpillFile const file(m_dir, std::int64_t{1} << 50, {.spare_bytes = 0});
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_NE(std::string(error.what()).find("1125899906842624 bytes needed"), std::string::npos);
  }
}

TEST_F(SpillFileTest, a_missing_directory_is_bad_input) {
  try {
    SpillFile const file(m_dir / "none", 4096, {});
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::bad_input);
    EXPECT_NE(std::string(error.what()).find((m_dir / "none").string()), std::string::npos);
  }
}

}  // namespace
}  // namespace spillway
