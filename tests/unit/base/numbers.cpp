// Numbers in names, the middle of numbers, and the numbers that stand for bytes.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/checksum.hpp"
#include "base/enum_array.hpp"
#include "base/median.hpp"
#include "base/number.hpp"
#include "base/permutation.hpp"

namespace spillway::numbers_test {
namespace {

TEST(Numbers, stand_between_the_two_parts_of_a_name) {
  EXPECT_EQ(number_between("step-", "step-120.h5", ".h5"), 120);
  EXPECT_EQ(number_between("step-", "step-0", ""), 0);
  EXPECT_EQ(number_between("", "9223372036854775807", ""),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(number_between("ab", "aba", "ba"), std::nullopt) << "both parts overlap";
  for (auto const* name :
       {"step-.h5", "step--3.h5", "step-3.h", "tep-3.h5", "step-3x.h5", "step- 3.h5", "step-+3.h5",
        "step-9223372036854775808.h5", "", "step-03.h5", "step-00.h5", "step--0.h5"})
    EXPECT_EQ(number_between("step-", name, ".h5"), std::nullopt) << name;
  EXPECT_EQ(to_number<double>("2.5"), 2.5);
  EXPECT_EQ(to_number<double>("2.5 "), std::nullopt);
}

TEST(Median, is_the_upper_one_of_an_even_number) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({4, 1}), 4);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({8, 2, 6, 4}), 6);
}

TEST(UndisturbedTime, is_the_median_unless_something_else_was_at_work) {
  EXPECT_EQ(undisturbed_time({3}), 3);
  EXPECT_EQ(undisturbed_time({4, 2}), 4);
  EXPECT_EQ(undisturbed_time({2, 4.5}), 2);
  EXPECT_EQ(undisturbed_time({90, 3, 40}), 3);
}

std::span<std::byte const> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Files keep them, so other versions must find the same.
TEST(Checksum, is_XXH3_of_64_bits_whole_or_in_pieces) {
  EXPECT_EQ(checksum_text(checksum({})), "2d06800538d394c2");
  EXPECT_EQ(checksum_text(checksum(bytes_of("abc"))), "78af5f94892f3950");
  EXPECT_EQ(checksum_text(0x1a), "000000000000001a");
  std::string text;
  for (int i = 0; i < 5001; ++i) text += static_cast<char>(i * i % 253);
  StreamingChecksum sum;
  sum.add(bytes_of("what was before"));
  sum.restart();
  for (std::size_t at = 0; at < text.size(); at += 777)
    sum.add(bytes_of(std::string_view(text).substr(at, 777)));
  EXPECT_EQ(sum.value(), checksum(bytes_of(text)));
  auto moved = std::move(sum);
  EXPECT_EQ(moved.value(), checksum(bytes_of(text)));
}

enum class Ordinal { first, second, third };

TEST(EnumArray, is_added_and_taken_away_one_by_one) {
  EnumArray<Ordinal, int, 3> const a{1, 20, 300}, b{4, 50, 600};
  auto const sum = a + b;
  EXPECT_EQ(sum[Ordinal::first], 5);
  EXPECT_EQ(sum[Ordinal::second], 70);
  EXPECT_EQ(sum[Ordinal::third], 900);
  EXPECT_EQ(sum - a, b);
  EXPECT_EQ(sum - b, a);
}

// A run goes on in the order in which another version began.
TEST(Permutation, is_the_same_in_every_version) {
  Permutation const order(11, 7, 3);
  std::string text;
  for (std::int64_t i = 0; i < 11; ++i) text += std::to_string(order(i)) + " ";
  EXPECT_EQ(text, "9 4 7 8 2 6 1 10 0 3 5 ");
}

}  // namespace
}  // namespace spillway::numbers_test
