// Views of tensors: which elements they have, and what can be made of them.
#include <gtest/gtest.h>

#include "graph/tensor.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/graph/one_tensor.hpp"

namespace spillway::graph_views_test {
namespace {

using test::tensor;

TEST(View, whole_tensor_is_contiguous_and_bounded_by_its_elements) {
  auto const view = whole(tensor({3, 4, 5}));
  EXPECT_EQ(view.strides, (Shape{20, 5, 1}));
  EXPECT_TRUE(is_contiguous(view));
  EXPECT_EQ(bounding_range(view).first, 0);
  EXPECT_EQ(bounding_range(view).last, 60);
}

TEST(View, columns_lie_beside_each_other) {
  auto const k = columns(whole(tensor({4, 6})), 2, 2);
  EXPECT_EQ(k, (View{0, 2, {4, 2}, {6, 1}}));
  EXPECT_FALSE(is_contiguous(k));
  EXPECT_EQ(bounding_range(k).first, 2);
  EXPECT_EQ(bounding_range(k).last, 3 * 6 + 2 + 2);
}

TEST(View, transposed_twice_is_itself) {
  auto const view = columns(whole(tensor({4, 6})), 1, 3);
  EXPECT_EQ(transposed(view), (View{0, 1, {3, 4}, {1, 6}}));
  EXPECT_EQ(transposed(transposed(view)), view);
}

TEST(View, reshaped_keeps_offset_and_elements) {
  View const flat{0, 64, {12}, {1}};
  EXPECT_EQ(reshaped(flat, {3, 4}), (View{0, 64, {3, 4}, {4, 1}}));
}

TEST(View, columns_of_a_transposed_matrix_are_rows_of_the_matrix) {
  auto const turned = transposed(whole(tensor({4, 6})));
  EXPECT_EQ(columns(turned, 1, 2), (View{0, 6, {6, 2}, {1, 6}}));
  EXPECT_EQ(bounding_range(columns(turned, 1, 2)).last, 18);
}

TEST(View, columns_end_with_the_matrix) {
  auto const matrix = whole(tensor({4, 6}));
  auto const why = "graph, tensor number 0: has no such columns";
  EXPECT_EQ(test::mistake([&] { columns(matrix, 4, 2); }), "");
  EXPECT_EQ(test::mistake([&] { columns(matrix, 6, 0); }), "");
  EXPECT_EQ(test::mistake([&] { columns(matrix, 5, 2); }), why);
  EXPECT_EQ(test::mistake([&] { columns(matrix, -1, 2); }), why);
  EXPECT_EQ(test::mistake([&] { columns(matrix, 3, -1); }), why);
  EXPECT_EQ(test::mistake([&] { columns(whole(tensor({4})), 0, 1); }), why);
}

TEST(View, reshaped_needs_elements_that_follow_each_other) {
  auto const half = columns(whole(tensor({4, 6})), 0, 3);
  EXPECT_EQ(test::mistake([&] { reshaped(half, {12}); }),
            "graph, tensor number 0: has other elements than the new shape");
  EXPECT_EQ(test::mistake([&] {
              transposed(whole(tensor({2, 2, 2})));
            }),
            "graph, tensor number 0: only a matrix can be transposed");
}

TEST(View, empty_view_touches_nothing) {
  View const empty{0, 7, {0, 4}, {4, 1}};
  EXPECT_EQ(bounding_range(empty).first, bounding_range(empty).last);
}

}  // namespace
}  // namespace spillway::graph_views_test
