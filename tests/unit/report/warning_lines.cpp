#include "report/warning_lines.hpp"

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/warnings.hpp"
#include "tests/support/captured_log.hpp"

namespace spillway::test::warning_lines_test {
namespace {

TEST(WarningLines, are_few_and_keep_their_ends) {
  EXPECT_EQ(warning_lines({}), "");
  EXPECT_EQ(warning_lines(std::vector<std::string>{"a"}), "1 warning:\n  a\n");
  std::vector<std::string> many;
  for (int i = 0; i < 12; ++i) many.push_back(std::string(static_cast<std::size_t>(i), 'x'));
  many[0] = std::string(60, 'y') + " has to be known to its end";
  auto const text = warning_lines(many);
  EXPECT_TRUE(text.starts_with("12 warnings:\n  " + std::string(60, 'y') +
                               " has to be known\n    to its end\n"))
      << text;
  EXPECT_TRUE(text.ends_with("\n  xxxxxxxxx\n  and 2 more above\n")) << text;
}

TEST(WarningLines, of_several_ranks_are_said_once) {
  std::vector<std::string> const ranks = {"a\nb\n", "", "b\nrank 2: c\n"};
  EXPECT_EQ(merged_warnings(ranks), (std::vector<std::string>{"a", "b", "rank 2: c"}));
}

TEST(WarningLines, are_those_that_were_logged_without_numbers_that_differ) {
  CapturedLog const log;
  auto const before = warnings_so_far().size();
  log_info("not this");
  for (int const step : {3, 14, 159}) log_warning("step {}: is skipped", step);
  log_error("nor this");
  log_warning("something else, 12");
  auto const all = warnings_so_far();
  ASSERT_EQ(all.size(), before + 2);
  EXPECT_EQ(all[before], "step 3: is skipped (and 2 more)");
  EXPECT_EQ(all[before + 1], "something else, 12");
}

}  // namespace
}  // namespace spillway::test::warning_lines_test
