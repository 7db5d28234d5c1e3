// Ranges of elements as boxes: held against counting them one by one.
#include "io/h5/flat_range.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "io/h5/h5_file.hpp"

namespace spillway::flat_range_test {
namespace {

using Shape = std::vector<std::int64_t>;

// The numbers of a box's elements in the whole array, in their order.
void add_elements(Box const& box, Shape const& shape, std::vector<std::int64_t>& to) {
  for (std::int64_t i = 0; i < element_count(box.count); ++i) {
    std::int64_t number = 0, rest = i, stride = element_count(box.count);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      stride /= box.count[axis];
      number = number * shape[axis] + box.start[axis] + rest / stride;
      rest %= stride;
    }
    to.push_back(number);
  }
}

TEST(FlatRange, every_range_is_its_boxes_in_order) {
  for (Shape const& shape : {Shape{7}, Shape{1}, Shape{5, 3}, Shape{1, 6}, Shape{3, 1},
                             Shape{2, 3, 4}, Shape{3, 1, 2, 2}}) {
    auto const whole = element_count(shape);
    for (std::int64_t first = 0; first < whole; ++first) {
      for (std::int64_t elements = 1; elements <= whole - first; ++elements) {
        std::vector<std::int64_t> found, expected(static_cast<std::size_t>(elements));
        std::iota(expected.begin(), expected.end(), first);
        auto const boxes = boxes_of_range(shape, first, elements);
        for (auto const& box : boxes) add_elements(box, shape, found);
        EXPECT_EQ(found, expected) << first << " + " << elements;
        EXPECT_LT(boxes.size(), 2 * shape.size());
      }
    }
  }
}

TEST(FlatRange, whole_rows_are_one_box) {
  EXPECT_EQ(boxes_of_range(Shape{8, 4, 2}, 16, 24), (std::vector<Box>{{{2, 0, 0}, {3, 4, 2}}}));
  EXPECT_EQ(boxes_of_range(Shape{8, 4}, 0, 32), (std::vector<Box>{{{0, 0}, {8, 4}}}));
}

}  // namespace
}  // namespace spillway::flat_range_test
