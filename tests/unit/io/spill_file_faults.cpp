// A spill file on storage that fails it.
#include <chrono>
#include <thread>

#include "tests/support/spill_file_fixture.hpp"

namespace spillway::test::spill_file_faults_test {
namespace {

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
  auto file = with_script(once, 3 * kMebibyte);
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
  auto const script = [&](TransferRequest const& request) -> std::int64_t {
    bool const bad = request.offset_bytes / kMebibyte == 1 || request.offset_bytes == size;
    return bad && request.direction == Direction::write ? -EIO : all_of(request);
  };
  auto file = with_script(script, size);
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
  auto const script = [](TransferRequest const& request) {
    bool const spoils = request.direction == Direction::write && request.offset_bytes == 0;
    if (spoils) request.memory[9] ^= std::byte{1};
    return all_of(request);
  };
  auto file = with_script(script, size);
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
  auto const script = [&](TransferRequest const& request) -> std::int64_t {
    return fails && request.direction == Direction::read ? -EIO : all_of(request);
  };
  auto file = with_script(script, kMebibyte);
  auto const bytes = pattern(kMebibyte, 1);
  std::vector<std::byte> back(bytes.size());
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(file.read(0, back), IoResult::error);
  fails = false;
  EXPECT_EQ(file.read(0, back), IoResult::ok);
  EXPECT_EQ(back, bytes);
}

TEST_F(SpillFileTest, without_spares_a_write_fails) {
  auto const script = [](TransferRequest const& request) -> std::int64_t {
    return request.direction == Direction::write ? -ENOSPC : all_of(request);
  };
  auto const bytes = pattern(3 * kMebibyte, 1);
  for (std::int64_t const spares : {0, 5}) {
    auto file = with_script(script, 3 * kMebibyte, {.spare_bytes = spares * kMebibyte});
    EXPECT_EQ(file.write(0, bytes), IoResult::error);
    EXPECT_TRUE(file.first_failure().ends_with("No space left on device")) << file.first_failure();
    EXPECT_EQ(file.counters().moved_pieces, spares);
  }
}

TEST_F(SpillFileTest, storage_that_does_not_answer_has_failed_for_good) {
  auto const script = [](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (request.direction == Direction::read) return {};
    return all_of(request);
  };
  auto file = with_script(script, 8 * kMebibyte, {.patience_s = 0.5}, 2);
  auto bytes = pattern(3 * kMebibyte, 1), back = bytes, more = bytes;
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  file.begin({Direction::read, back, 0, 1});
  file.begin({Direction::read, more, 0, 2});
  EXPECT_FALSE(file.wait(0.001)) << "not yet";
  EXPECT_EQ(finish(file),
            (std::map<std::uint64_t, IoResult>{{1, IoResult::error}, {2, IoResult::error}}));
  auto const told = file.first_failure();
  EXPECT_NE(told.find("no answer for 0.5 s: read of 1048576 bytes at 0 for "), told.npos) << told;
  EXPECT_NE(told.find("read of 1048576 bytes at 1048576 for "), told.npos) << told;
  EXPECT_EQ(file.write(0, bytes), IoResult::error);
}

// Whoever asks the script is stopped once, for several times the patience.
TEST_F(SpillFileTest, time_in_which_the_process_was_stopped_is_not_silence_of_the_drive) {
  int asked = 0;
  auto const script = [&](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (asked++ > 0) return all_of(request);
    std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    return {};
  };
  auto file = with_script(script, kMebibyte, {.patience_s = 1.2});
  auto bytes = pattern(kMebibyte, 1);
  file.begin({Direction::write, bytes, 0, 7});
  while (asked == 0) EXPECT_FALSE(file.wait(0)) << "stopped in here";
  EXPECT_EQ(finish(file), (std::map<std::uint64_t, IoResult>{{7, IoResult::ok}}));
  EXPECT_EQ(file.first_failure(), "");
}

}  // namespace
}  // namespace spillway::test::spill_file_faults_test
