// What a spill file keeps in mind and says: its first failure, pieces that moved, advice.
#include <algorithm>
#include <array>
#include <cerrno>

#include "io/ring/random_faults.hpp"
#include "io/spill/first_failure.hpp"
#include "io/spill/spare_places.hpp"
#include "io/spill/spill_storage.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/support/spill_file_fixture.hpp"

namespace spillway::test::spill_words_test {
namespace {

TEST(FirstFailureTest, is_told_until_it_is_forgotten) {
  std::vector<std::byte> memory(77);
  TransferRequest const write{Direction::write, 3, memory, 4096, 9},
      read{Direction::read, 3, memory, 8192, 9};
  FirstFailure failure("/a");
  EXPECT_EQ(failure.text(), "");
  failure.note(write, ENOSPC, 0);
  failure.note(read, EIO, 0);
  failure.note_silence(7, "others");
  EXPECT_EQ(failure.text(), "spill file in /a: write of 77 bytes at 4096: No space left on device");
  failure.forget();
  EXPECT_EQ(failure.text(), "");
  failure.note(read, 0, 0);
  EXPECT_EQ(failure.text(),
            "spill file in /a: read of 77 bytes at 8192: not the bytes that were written (checksum "
            "differs)");
  failure.forget();
  failure.note_silence(2.5, "read of 1 bytes");
  failure.note_silence(7, "others");
  failure.note(write, EIO, 0);
  EXPECT_EQ(failure.text(), "spill file in /a: no answer for 2.5 s: read of 1 bytes");
  failure.forget();
  EXPECT_EQ(failure.text(), "");
  failure.note(read, EIO, 0);
  EXPECT_EQ(failure.text(), "spill file in /a: read of 77 bytes at 8192: Input/output error");
}

TEST(FirstFailureTest, names_the_drive_or_all_of_which_it_may_be) {
  std::vector<std::byte> memory(1);
  TransferRequest const read{Direction::read, 3, memory, 0, 9};
  FirstFailure failure(std::vector<std::string>{"/a", "/b"});
  failure.note(read, EIO, 1);
  EXPECT_EQ(failure.text(), "spill file in /b: read of 1 bytes at 0: Input/output error");
  failure.forget();
  failure.note(read, EIO, {});
  EXPECT_EQ(failure.text(), "spill file in /a, /b: read of 1 bytes at 0: Input/output error");
  failure.forget();
  failure.note(read, EIO, 0);
  failure.forget();
  failure.note_silence(7, "others");
  EXPECT_EQ(failure.text(), "spill file in /a, /b: no answer for 7 s: others");
}

TEST(SparePlacesTest, are_given_away_once_and_taken_at_the_next_write) {
  SparePlaces places(1000, 10, 3);
  EXPECT_EQ(places.place(20), 20);
  EXPECT_EQ(places.place_to_write(20), 20);
  EXPECT_TRUE(places.move_at_next_write(20));
  EXPECT_TRUE(places.move_at_next_write(20)) << "it is to move already";
  EXPECT_TRUE(places.move_at_next_write(5));
  EXPECT_EQ(places.place(20), 20) << "not written yet";
  EXPECT_EQ(places.moved(), 0);
  EXPECT_EQ(places.place_to_write(5), 1010);
  EXPECT_EQ(places.place_to_write(20), 1000);
  EXPECT_EQ(places.place_to_write(20), 1000) << "it has moved";
  EXPECT_EQ(places.moved(), 2);
  EXPECT_TRUE(places.move_at_next_write(20));
  EXPECT_EQ(places.place(20), 1000);
  EXPECT_EQ(places.place_to_write(20), 1020);
  EXPECT_EQ(places.place(20), 1020);
  EXPECT_EQ(places.place(5), 1010);
  EXPECT_EQ(places.moved(), 3);
  EXPECT_FALSE(places.move_at_next_write(7)) << "none is left";
  EXPECT_FALSE(places.move_at_next_write(5));
  EXPECT_EQ(places.place_to_write(7), 7);
}

// Moves nothing, and registers nothing where `m_error` says why not.
class Registers final : public TransferQueue {
 public:
  Registers(int error, std::vector<std::size_t>& seen)
      : TransferQueue(4), m_error(error), m_seen(seen) {}
  char const* backend() const override { return "registers"; }
  void wake() noexcept override {}
  int register_memory(std::span<std::span<std::byte> const> memory) override {
    for (auto const& part : memory) m_seen.push_back(part.size());
    return m_error;
  }

 private:
  void start(int, TransferRequest const&) noexcept override {}
  std::optional<Outcome> next(double) noexcept override { return {}; }

  int m_error;
  std::vector<std::size_t>& m_seen;
};

TEST_F(SpillFileTest, what_its_queue_lacks_is_said_first_and_what_cannot_be_registered_last) {
  std::vector<std::byte> memory(50);
  std::array const parts{std::span(memory).first(20), std::span(memory).subspan(20)};
  for (int const error : {0, EFAULT}) {
    std::vector<std::size_t> seen;
    SpillFile file(m_dir, 4096, {.checksums = error == 0},
                   {std::make_unique<Registers>(error, seen), "no rings"});
    EXPECT_EQ(file.register_memory(parts), error == 0);
    EXPECT_EQ(seen, (std::vector<std::size_t>{20, 30}));
    EXPECT_STREQ(file.backend(), "registers");
    EXPECT_EQ(file.checksums(), error == 0);
    EXPECT_EQ(file.size_bytes(), 4096);
    EXPECT_FALSE(file.full());
    ASSERT_FALSE(file.advice().empty());
    EXPECT_EQ(file.advice().front(), "no rings");
    EXPECT_EQ(file.advice().back(),
              error == 0
                  ? SpillFile(m_dir, 4096, {}).advice().empty()
                        ? "no rings"
                        : SpillFile(m_dir, 4096, {}).advice().back()
                  : "buffers cannot be registered (Bad address); plain buffers will be used");
  }
}

TEST_F(SpillFileTest, of_two_directions_counts_each_for_itself) {
  auto file = with_script(all_of, 8 * kMebibyte);
  auto bytes = pattern(3 * kMebibyte, 1), back = bytes, more = pattern(kMebibyte, 2);
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  ASSERT_EQ(file.write(4 * kMebibyte, more), IoResult::ok);
  ASSERT_EQ(file.read(0, back), IoResult::ok);
  auto const counters = file.counters();
  EXPECT_EQ(counters.written_bytes, 4 * kMebibyte);
  EXPECT_EQ(counters.read_bytes, 3 * kMebibyte);
  EXPECT_EQ(counters.moved_pieces, 0);
}

// Of transfers that overlap once, of none that is idle, and of the other direction nothing.
TEST_F(SpillFileTest, seconds_are_those_in_which_a_transfer_of_the_direction_is_under_way) {
  bool answers = false;
  auto const script = [&](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (!answers) return {};
    return all_of(request);
  };
  auto const let_pass = [](double seconds) {
    for (auto const begin = SteadyClock::now(); seconds_since(begin) < seconds;) {
    }
  };
  auto file = with_script(script, 4 * kMebibyte, {.patience_s = kLong});
  auto bytes = pattern(kMebibyte, 1), more = bytes;
  auto const begin = SteadyClock::now();
  file.begin({Direction::write, bytes, 0, 1});
  let_pass(0.05);
  file.begin({Direction::write, more, kMebibyte, 2});
  let_pass(0.02);
  answers = true;
  finish(file);
  auto const both_s = seconds_since(begin);
  EXPECT_GE(file.counters().write_s, 0.07);
  EXPECT_LE(file.counters().write_s, both_s);
  EXPECT_EQ(file.counters().read_s, 0);
  let_pass(0.1);
  auto const again = SteadyClock::now();
  ASSERT_EQ(file.read(0, bytes), IoResult::ok);
  ASSERT_EQ(file.write(0, bytes), IoResult::ok);
  auto const again_s = seconds_since(again);
  auto const counters = file.counters();
  EXPECT_GT(counters.read_s, 0);
  EXPECT_LE(counters.read_s, again_s);
  EXPECT_LE(counters.write_s, both_s + again_s);
}

TEST_F(SpillFileTest, of_storage_that_has_failed_for_good_nothing_is_registered) {
  std::vector<std::byte> memory(4096);
  std::array const parts{std::span(memory)};
  std::vector<std::size_t> seen;
  SpillFile file(m_dir, 4096, {.patience_s = 0.05},
                 {std::make_unique<Registers>(EFAULT, seen), ""});
  auto const advice = file.advice();
  file.begin({Direction::write, memory, 0, 3});
  EXPECT_EQ(finish(file), (std::map<std::uint64_t, IoResult>{{3, IoResult::error}}));
  EXPECT_TRUE(file.register_memory(parts));
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(file.advice(), advice);
}

TEST_F(SpillFileTest, a_wake_that_is_meant_for_others_does_not_end_a_transfer_that_is_waited_for) {
  int asked = 0;
  auto const script = [&](TransferRequest const& request) -> std::optional<std::int64_t> {
    if (asked++ == 0) return {};
    return all_of(request);
  };
  auto file = with_script(script, kMebibyte);
  auto const bytes = pattern(4096, 1);
  file.wake();
  EXPECT_EQ(file.write(0, bytes), IoResult::ok);
  EXPECT_EQ(asked, 2);
}

TEST_F(SpillFileTest, whole_alignments_and_whole_spare_pieces_are_taken_at_once) {
  SpillSettings const settings{.spare_bytes = 1};
  constexpr rlim_t needed = 131'072 + 1'048'576;
  {
    FileSizeLimit const limit(needed);
    EXPECT_NO_THROW(SpillFile(m_dir, 100'000, settings));
  }
  FileSizeLimit const limit(needed - 1);
  auto const said = refused_with([&] { SpillFile(m_dir, 100'000, settings); }, Status::cannot_fit);
  EXPECT_NE(said.find(" cannot hold the spill file: 1179648 bytes needed, "), said.npos) << said;
  EXPECT_NE(said.find(" free (File too large); choose another path"), said.npos) << said;
}

TEST_F(SpillFileTest, without_bytes_it_takes_no_spares_either) {
  FileSizeLimit const none(0);
  SpillFile const file(m_dir, 0, {});
  EXPECT_EQ(file.size_bytes(), 0);
  EXPECT_FALSE(file.direct());
  EXPECT_EQ(file.under_way(), 0);
}

TEST_F(SpillFileTest, its_place_is_tried_before_anything_is_taken) {
  require_spill_place(m_dir);
  EXPECT_TRUE(std::filesystem::is_empty(m_dir));
  EXPECT_EQ(refused_with([&] { require_spill_place(m_dir / "none"); }),
            "memory.nvme.path: no spill file in " + (m_dir / "none").string() +
                ": No such file or directory");
}

// A run that is to fail by a seed fails as it did before.
TEST(RandomFaults, are_those_that_a_seed_has_always_given) {
  std::vector<std::byte> memory(8192);
  std::string story;
  for (std::uint64_t const seed : {3, 11}) {
    RandomFaults faults(seed);
    int kinds[4] = {};
    for (int i = 0; i < 4000; ++i) {
      auto const ending = faults({i % 3 == 0 ? Direction::read : Direction::write, -1, memory,
                                  (i % 40) * std::int64_t{32'768}, 0});
      ++kinds[!ending ? 0 : ending->bytes < 0 ? 1 : ending->damaged ? 2 : 3];
    }
    for (int const kind : kinds) story += std::to_string(kind) + " ";
  }
  EXPECT_EQ(story, "1989 220 51 1740 2004 271 87 1638 ");
}

}  // namespace
}  // namespace spillway::test::spill_words_test
