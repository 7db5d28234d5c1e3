#include "report/live_line.hpp"

#include <gtest/gtest.h>

#include <vector>

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
            " 20 % [####....................] 120/600 loss  3.500 lr 6.00e-04 norm    1.23   8192 "
            "tok/s up   3m20s left  13m20s");
}

TEST(LiveLine, has_what_matters_most_in_eighty_columns) {
  EXPECT_EQ(line(80),
            " 20 % 120/600 loss  3.500 lr 6.00e-04 norm    1.23   8192 tok/s left  13m20s");
  auto known = row();
  known.mfu = 0.41;
  EXPECT_EQ(live_line(known, 600, {200, 800}, 83),
            " 20 % [#......] 120/600 loss  3.500 norm    1.23   8192 tok/s MFU 41 % left  13m20s");
  known.peak_bytes = {61 << 20, 0, 12 << 20};
  EXPECT_TRUE(live_line(known, 600, {200, 800}, 200).ends_with(" device   61 MiB nvme   12 MiB"));
}

// Returns where the words of a line begin, and the ends of its bar.
std::vector<std::size_t> places(std::string const& line) {
  std::vector<std::size_t> result;
  for (auto const* word :
       {"[", "]", "/", "loss", "lr", "norm", "tok/s", "MFU", "up", "left", "dev"})
    result.push_back(line.find(word));
  return result;
}

TEST(LiveLine, keeps_every_field_in_its_place) {
  struct State {
    std::int64_t step;
    double loss, lr, norm, rate, mfu, elapsed_s, left_s;
  };
  constexpr State states[] = {{1, 10.8249, 0, 0.0123, 9.5, 0.03, 0.5, 5000},
                              {9, 9.99951, 8.57e-6, 1234, 999.7, 0.1, 3.97, 86'000},
                              {99, 3.5, 6e-4, 1.2, 145'322, 0.41, 5000, 99.94},
                              {600, 0.25, 1.5e-3, 0.00123, 8192, 0.99, 90'000, 0}};
  for (std::size_t const columns : {30u, 60u, 80u, 120u, 200u}) {
    std::vector<std::string> lines;
    for (auto const& state : states) {
      StepMetrics now;
      now.step = state.step;
      now.loss = {2 * state.loss, 2};
      now.lr = state.lr;
      now.grad_norm = state.norm;
      now.tokens_per_s = state.rate;
      now.mfu = state.mfu;
      now.peak_bytes = {61 << 20, 0, 0};
      lines.push_back(live_line(now, 600, {state.elapsed_s, state.left_s}, columns));
      EXPECT_EQ(places(lines.back()), places(lines.front())) << lines.front() << "\n"
                                                             << lines.back();
      EXPECT_EQ(lines.back().size(), lines.front().size()) << lines.back();
    }
  }
}

TEST(LiveLine, is_never_longer_than_asked_and_keeps_what_matters_most) {
  for (std::size_t columns = 0; columns < 150; ++columns) {
    EXPECT_LE(line(columns).size(), columns);
    auto const has = [&](char const* field) {
      return line(columns).find(field) != std::string::npos;
    };
    EXPECT_EQ(has("120/600"), columns >= 7) << columns;
    EXPECT_EQ(has("loss  3.500"), columns >= 19) << columns;
    EXPECT_EQ(has("left  13m20s"), columns >= 32) << columns;
  }
}

TEST(LiveLine, is_full_at_the_end_and_says_where_there_is_no_loss) {
  auto last = row();
  last.step = 600;
  last.loss = {};
  auto const text = live_line(last, 600, {1000, 0}, 75);
  EXPECT_TRUE(text.starts_with("100 % [#")) << text;
  EXPECT_EQ(text.find('.'), text.find("1.23") + 1) << "no place of the bar is empty: " << text;
  EXPECT_NE(text.find(" loss   none "), std::string::npos) << text;
}

}  // namespace
}  // namespace spillway::live_line_test
