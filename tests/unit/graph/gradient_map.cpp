// Which parts of a gradient have been written, and by whom.
#include "graph/gradient_map.hpp"

#include <gtest/gtest.h>

namespace spillway::gradient_map_test {
namespace {

constexpr TensorId kForward = 3, kGradient = 8, kOther = 9;

// Rows [row, row + rows) and columns [column, column + columns) of a tensor [6, 8].
View block(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  return {kForward, 8 * row + column, {rows, columns}, {8, 1}};
}

bool have_room_together(View const& one, View const& other) {
  GradientMap map{Graph{}};
  EXPECT_EQ(map.put(one, kGradient), nullptr);
  return map.put(other, kGradient) == nullptr && map.find(one) && map.find(other);
}

TEST(GradientMap, parts_beside_or_below_each_other_share_nothing) {
  EXPECT_TRUE(have_room_together(block(0, 6, 0, 3), block(0, 6, 3, 5)));
  EXPECT_TRUE(have_room_together(block(0, 2, 0, 8), block(2, 4, 0, 8)));
  EXPECT_TRUE(have_room_together(block(0, 3, 0, 4), block(2, 4, 4, 4)));
  View const vector{kForward, 4, {4}, {1}}, next{kForward, 8, {2}, {1}};
  EXPECT_TRUE(have_room_together(vector, next));
}

TEST(GradientMap, parts_that_share_an_element_are_told_apart_from_other_objections) {
  GradientMap map{Graph{}};
  auto const expect = [&](View const& view, TensorId gradient, std::string const& why) {
    auto const* const said = map.put(view, gradient);
    ASSERT_NE(said, nullptr);
    EXPECT_EQ(said, why);
  };
  auto const left = block(0, 3, 0, 4), right = block(0, 3, 4, 4);
  ASSERT_EQ(map.put(left, kGradient), nullptr);
  ASSERT_EQ(map.put(right, kGradient), nullptr);
  auto const shares = "its gradient has another part that shares elements with this one";
  expect(block(2, 4, 3, 1), kGradient, shares);
  expect(block(1, 1, 7, 1), kGradient, shares);
  expect({kForward, 19, {2}, {1}}, kGradient, shares);  // the last column of the third row
  expect(left, kGradient, "its gradient is written twice");
  expect(left, kOther, "its gradient has other parts, which a sum of this one would leave behind");
  EXPECT_EQ(map.tensor_of(kForward), kGradient) << "an objection changes nothing";
  EXPECT_EQ(map.find(right), (View{kGradient, 4, {3, 4}, {8, 1}}));
}

TEST(GradientMap, a_sum_takes_the_place_of_the_part_that_it_holds) {
  GradientMap map{Graph{}};
  Tensor const tensor{.id = kForward, .name = "x", .shape = {6, 8}};
  EXPECT_FALSE(map.tensor_of(kForward));
  EXPECT_FALSE(map.is_complete(tensor));
  ASSERT_EQ(map.put(block(0, 6, 0, 5), kGradient), nullptr);
  EXPECT_FALSE(map.is_complete(tensor));
  ASSERT_EQ(map.put(block(0, 6, 0, 5), kOther), nullptr);
  EXPECT_EQ(map.tensor_of(kForward), kOther);
  EXPECT_FALSE(map.find(block(0, 6, 5, 3)));
  ASSERT_EQ(map.put(block(0, 6, 5, 3), kOther), nullptr);
  EXPECT_TRUE(map.is_complete(tensor));
}

TEST(GradientMap, uses_of_parameters_are_counted_for_each_range) {
  GradientMap map{Graph{}};
  EXPECT_EQ(map.note_use(5, {64, 96}), 0);
  EXPECT_EQ(map.note_use(5, {96, 128}), 0);
  EXPECT_EQ(map.note_use(5, {64, 96}), 1);
  EXPECT_EQ(map.note_use(5, {64, 96}), 2);
  EXPECT_EQ(map.note_use(5, {96, 128}), 1);
  EXPECT_EQ(map.note_use(6, {64, 96}), 0) << "of another tensor";
  EXPECT_LT(map.note_use(5, {64, 95}), 0);
  EXPECT_LT(map.note_use(5, {95, 97}), 0);
  EXPECT_LT(map.note_use(5, {127, 129}), 0);
  EXPECT_EQ(map.note_use(5, {128, 129}), 0);
}

// As q, k and v are that one product uses, or a matrix of which two ops use a half each.
TEST(GradientMap, parameters_are_used_where_uses_cover_them) {
  GradientMap map{Graph{}};
  EXPECT_FALSE(map.is_used(5, {64, 96}));
  map.note_use(5, {64, 96});
  map.note_use(5, {96, 100});
  EXPECT_TRUE(map.is_used(5, {64, 96}));
  EXPECT_TRUE(map.is_used(5, {70, 80})) << "a part of what is used together";
  EXPECT_TRUE(map.is_used(5, {80, 100})) << "by two ops";
  EXPECT_FALSE(map.is_used(5, {80, 101}));
  EXPECT_FALSE(map.is_used(5, {63, 96}));
  EXPECT_FALSE(map.is_used(5, {128, 130}));
  EXPECT_FALSE(map.is_used(6, {64, 96}));
}

}  // namespace
}  // namespace spillway::gradient_map_test
