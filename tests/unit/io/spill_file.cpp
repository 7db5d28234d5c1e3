// Transfers of a spill file on storage that is sound.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/error.hpp"
#include "tests/support/spill_file_fixture.hpp"

namespace spillway::test::spill_file_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::optional<Backend>, 3> kBackends = {std::nullopt, Backend::uring_plain,
                                                             Backend::posix};

TEST_F(SpillFileTest, ranges_come_back_and_are_counted) {
  SpillFile file(m_dir, 3 * kSpillAlignment, {});
  auto const a = pattern(10'000, 1), b = pattern(4'999, 2);
  std::vector<std::byte> back_a(a.size()), back_b(b.size());
  EXPECT_EQ(file.write(0, a), IoResult::ok);
  EXPECT_EQ(file.write(2 * kSpillAlignment, b), IoResult::ok);
  EXPECT_EQ(file.read(2 * kSpillAlignment, back_b), IoResult::ok);
  EXPECT_EQ(file.read(0, back_a), IoResult::ok);
  EXPECT_EQ(file.read(0, back_a), IoResult::ok);
  EXPECT_EQ(back_a, a);
  EXPECT_EQ(back_b, b);
  EXPECT_EQ(file.counters().written_bytes, 14'999);
  EXPECT_EQ(file.counters().read_bytes, 24'999);
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
  for (auto const backend : kBackends)
    for (int const depth : {1, 32})
      for (auto const [from, to, size] : {std::array<std::int64_t, 3>{0, 0, 3 * kMebibyte},
                                          {4096, 3 * kSpillAlignment, 4096},
                                          {100, kSpillAlignment, 2 * kMebibyte + 77},
                                          {0, kSpillAlignment, 2 * kMebibyte + 77},
                                          {4095, kSpillAlignment, 2},
                                          {0, kSpillAlignment, 4095}}) {
        SCOPED_TRACE(testing::Message()
                     << word(backend) << " " << depth << " " << from << " " << size);
        SpillFile file(m_dir, 4 * kMebibyte, {.queue = {backend, depth}});
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
  for (auto const backend : kBackends)
    for (int const depth : {1, 3, 32}) {
      SCOPED_TRACE(testing::Message() << word(backend) << " " << depth);
      SpillFile file(m_dir, 2 * count * slot, {.queue = {backend, depth}, .transfers = 2 * count});
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
  auto file = with_script(note, 32 * kMebibyte, {}, 1);
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

TEST_F(SpillFileTest, a_wait_is_ended_by_another_thread) {
  auto const never = [](TransferRequest const&) { return std::optional<std::int64_t>(); };
  auto file = with_script(never, kMebibyte, {.patience_s = kLong});
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

// What reached beyond it would be another file's or another tensor's bytes: no build goes on.
TEST_F(SpillFileTest, a_transfer_beyond_its_end_ends_the_process) {
  SpillFile file(m_dir, 3 * kSpillAlignment, {});
  auto const bytes = pattern(kSpillAlignment + 1, 1);
  EXPECT_DEATH(file.write(2 * kSpillAlignment, bytes),
               "the spill file: a transfer reaches beyond its end");
  EXPECT_DEATH(file.write(8, bytes), "the spill file: a transfer begins before it, or between");
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
}  // namespace spillway::test::spill_file_test
