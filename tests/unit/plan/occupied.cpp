#include "plan/memory/occupied.hpp"

#include <gtest/gtest.h>

#include "base/math.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::occupied_test {
namespace {

// What is taken, one by one.
class Plain {
 public:
  std::int64_t first_free(Lifetime const& stays, std::int64_t alignment,
                          std::int64_t offset) const {
    auto const is_free_there = [&](Stay const& stay) { return is_free(stay, offset); };
    while (!std::ranges::all_of(stays, is_free_there)) offset += alignment;
    return offset;
  }
  void take(Stay stay, std::int64_t offset) {
    stay.first_byte += offset;
    stay.last_byte += offset;
    m_taken.push_back(stay);
  }

 private:
  bool is_free(Stay const& stay, std::int64_t offset) const {
    return std::ranges::none_of(m_taken, [&](Stay const& t) {
      return t.meets(stay) && t.first_byte < offset + stay.last_byte &&
             offset + stay.first_byte < t.last_byte;
    });
  }

  std::vector<Stay> m_taken;
};

Stay random_stay(Random& random, int items, int unit) {
  int const first = below(random, items), last = below(random, items);
  std::int64_t const first_byte = unit * below(random, 3);
  return {std::min(first, last), std::max(first, last), first_byte,
          first_byte + unit * (1 + below(random, 5))};
}

TEST(Occupied, finds_the_lowest_offset_that_is_free) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    int const items = 1 + below(random, round % 2 == 0 ? 100 : 3000);
    Occupied occupied(static_cast<std::size_t>(items));
    Plain plain;
    for (int i = 0; i < 120; ++i) {
      Lifetime stays;
      while (stays.empty() || below(random, 3) == 0)
        stays.push_back(random_stay(random, items, 16));
      std::int64_t const alignment = 16 << below(random, 3);
      auto const from = alignment * below(random, 4);
      auto const offset = plain.first_free(stays, alignment, from);
      ASSERT_EQ(occupied.first_free(stays, alignment, from), offset) << round << " " << i;
      for (Stay const& stay : stays) {
        occupied.take(stay, offset);
        plain.take(stay, offset);
      }
    }
  }
}

// As activations lie that are kept from a forward to a backward pass, one inside the other. To look
// at all that is taken each time would be 10^12 looks.
TEST(Occupied, a_million_stays_inside_each_other_are_placed) {
  constexpr int stays = 1'000'000;
  Occupied occupied(2 * stays);
  std::int64_t end = 0;
  for (int i = 0; i < stays; ++i) {
    Stay const stay{i, 2 * stays - 1 - i, 0, 64};
    ASSERT_EQ(occupied.first_free(std::span(&stay, 1), 64, 0), end);
    occupied.take(stay, end);
    end += 64;
  }
}

}  // namespace
}  // namespace spillway::test::occupied_test
