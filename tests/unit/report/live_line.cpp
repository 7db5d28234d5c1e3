#include "report/live_line.hpp"

#include <gtest/gtest.h>

namespace spillway::live_line_test {
namespace {

StepMetrics row() {
  StepMetrics row;
  row.step = 120;
  row.loss = {7, 2};
  row.lr = 6e-4;
  row.grad_norm = 1.2345;
  row.tokens_per_s = 8192;
  return row;
}

std::string line(std::size_t columns) {
  return live_line(row(), 600, {200, 800}, columns);
}

TEST(LiveLine, shows_all_where_there_is_room) {
  EXPECT_EQ(line(200),
            " 20 % [####....................] 120/600 loss 3.500 lr 0.0006 norm 1.23 8192 tok/s "
            "up 3m20s left 13m20s");
}

TEST(LiveLine, has_all_but_the_time_so_far_in_eighty_columns) {
  EXPECT_EQ(line(80),
            " 20 % [##........] 120/600 loss 3.500 lr 0.0006 norm 1.23 8192 tok/s "
            "left 13m20s");
}

TEST(LiveLine, is_never_longer_than_asked_and_keeps_what_matters_most) {
  for (std::size_t columns = 0; columns < 150; ++columns) {
    EXPECT_LE(line(columns).size(), columns);
    auto const has = [&](char const* field) {
      return line(columns).find(field) != std::string::npos;
    };
    EXPECT_EQ(has("120/600"), columns >= 7) << columns;
    EXPECT_EQ(has("loss 3.500"), columns >= 18) << columns;
    EXPECT_EQ(has("left 13m20s"), columns >= 30) << columns;
  }
}

TEST(LiveLine, is_full_at_the_end_and_says_where_there_is_no_loss) {
  auto last = row();
  last.step = 600;
  last.loss = {};
  auto const text = live_line(last, 600, {1000, 0}, 80);
  EXPECT_TRUE(text.starts_with("100 % [#")) << text;
  EXPECT_EQ(text.find('.'), text.find("0.0006") + 1) << "no place of the bar is empty: " << text;
  EXPECT_NE(text.find(" loss none "), std::string::npos) << text;
}

}  // namespace
}  // namespace spillway::live_line_test
