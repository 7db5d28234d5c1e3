// Storage that fails by a seed: the same faults for a seed, and a spill file above it that never
// takes wrong bytes for right ones.
#include "io/ring/random_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <random>

#include "io/spill/spill_file.hpp"

namespace spillway::random_faults_test {
namespace {

using Bytes = std::vector<std::byte>;

TransferEnding ending_of(RandomFaults& faults, TransferRequest const& request) {
  while (true) {
    if (auto const ending = faults(request)) return *ending;
  }
}

// Of 64 requests at 8 places each, as errors, sizes and damage.
std::vector<std::int64_t> endings(std::uint64_t seed, bool backwards) {
  Bytes memory(8192);
  RandomFaults faults(seed);
  std::map<std::pair<int, int>, std::int64_t> all;
  for (int round = 0; round < 64; ++round) {
    for (int i = 0; i < 8; ++i) {
      auto const place = backwards ? 7 - i : i;
      auto const direction = round % 2 == 0 ? Direction::write : Direction::read;
      auto const ending = ending_of(faults, {direction, -1, memory, place * kSpillAlignment, 0});
      all[{place, round}] = 2 * ending.bytes + (ending.damaged ? 1 : 0);
    }
  }
  std::vector<std::int64_t> list;
  for (auto const& [key, value] : all) list.push_back(value);
  return list;
}

TEST(RandomFaults, are_the_same_for_a_seed_in_whatever_order_places_are_asked) {
  std::vector<std::vector<std::int64_t>> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(endings(seed, false), endings(seed, true)) << seed;
    seen.push_back(endings(seed, false));
  }
  std::ranges::sort(seen);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end()) << "two seeds alike";
}

TEST(RandomFaults, are_of_every_kind_and_never_leave_a_page) {
  std::map<std::int64_t, int> errors;
  int damaged = 0, shortened = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (auto const twice : endings(seed, false)) {
      auto const bytes = (twice - (twice & 1)) / 2;
      damaged += twice & 1;
      if (bytes < 0) ++errors[-bytes];
      if (bytes < 0) continue;
      shortened += bytes < 8192;
      ASSERT_EQ(bytes % 4096, 0);
    }
  }
  for (auto const error : {EIO, ENOSPC, EINTR, EAGAIN}) EXPECT_GT(errors[error], 0) << error;
  EXPECT_EQ(errors.size(), 4u);
  EXPECT_GT(damaged, 0);
  EXPECT_GT(shortened, 0);
}

// A disk that is full refuses to be written, and is read as ever.
TEST(RandomFaults, leave_no_read_without_room) {
  Bytes memory(8192);
  std::map<Direction, std::map<std::int64_t, int>> errors;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomFaults faults(seed);
    for (int round = 0; round < 64; ++round)
      for (auto const direction : {Direction::write, Direction::read}) {
        auto const ending = ending_of(faults, {direction, -1, memory, 0, 0});
        if (ending.bytes < 0) ++errors[direction][-ending.bytes];
      }
  }
  EXPECT_GT(errors[Direction::write][ENOSPC], 0);
  EXPECT_EQ(errors[Direction::read][ENOSPC], 0);
  EXPECT_GT(errors[Direction::read][EIO], 0);
}

// A spill file on storage that fails, and what its slots should hold.
class Slots {
 public:
  explicit Slots(std::uint64_t seed)
      : m_random(static_cast<unsigned>(seed) + 1),
        m_file(::testing::TempDir(), kSlots * kSlotBytes,
               {.patience_s = 60, .spare_bytes = 2 << 20},
               {make_random_queue(1 + static_cast<int>(seed % 5), seed), ""}) {}

  // A transfer of every slot, together.
  void round() {
    for (std::size_t i = 0; i < kSlots; ++i) {
      bool const reads = m_known[i] && m_random() % 2 == 0;
      m_memory[i].assign(m_known[i] && reads ? m_held[i].size() : 1 + m_random() % kSlotBytes,
                         static_cast<std::byte>(m_random() >> 8));
      m_reads[i] = reads;
      m_file.begin({reads ? Direction::read : Direction::write, m_memory[i],
                    static_cast<std::int64_t>(i) * kSlotBytes, i});
    }
    while (m_file.under_way() > 0) {
      if (auto const done = m_file.wait(60)) check(*done);
    }
  }

  int good = 0, bad = 0;

 private:
  static constexpr std::int64_t kSlots = 6, kSlotBytes = 2 * kSpillAlignment;

  void check(SpillDone const& done) {
    bool const ok = done.result == IoResult::ok;
    ++(ok ? good : bad);
    if (!m_reads[done.tag]) {
      m_known[done.tag] = ok;
      m_held[done.tag] = m_memory[done.tag];
    } else if (ok) {
      EXPECT_TRUE(m_memory[done.tag] == m_held[done.tag]);
    }
    EXPECT_EQ(m_file.first_failure().empty(), bad == 0);
  }

  std::minstd_rand m_random;
  SpillFile m_file;
  std::array<Bytes, kSlots> m_memory, m_held;
  std::array<bool, kSlots> m_known{}, m_reads{};
};

TEST(RandomFaults, never_make_a_spill_file_take_wrong_bytes_for_right_ones) {
  int good = 0, bad = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Slots slots(seed);
    for (int round = 0; round < 8; ++round) slots.round();
    if (::testing::Test::HasFailure()) return;
    good += slots.good;
    bad += slots.bad;
  }
  EXPECT_GT(good, 20 * bad);
  EXPECT_GT(bad, 100);
}

}  // namespace
}  // namespace spillway::random_faults_test
