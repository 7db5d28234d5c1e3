// A rank that the others wait for is seen while the run goes on, and told once. What ranks wait is
// told, and not measured, so that no busy machine decides.
#include <fmt/format.h>

#include <algorithm>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::slow_ranks_test {
namespace {

class SlowRanks : public ::testing::TestWithParam<int> {
 protected:
  int last_rank() const { return GetParam() - 1; }
  Experiment experiment() const {
    return Experiment(
        fmt::format("slow_ranks_{}", GetParam()), GetParam(),
        {"run.steps=10", "batch.sequences=6", "batch.micro=2", "run.checkpoint.every=0"});
  }
};

std::size_t count_of(std::string const& text, std::string const& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// In steps 3 to 6 the others wait for the last rank.
TEST_P(SlowRanks, are_in_rows_events_and_warnings_and_change_no_bit) {
  auto const runs = experiment();
  auto const plain = runs.run("plain");
  auto const slow = runs.run("slow", {"debug.fault=rank-told-slow:3"});
  ASSERT_EQ(slow.status, 0);
  expect_equal_steps(plain, slow);
  std::string steps, story;
  for (auto const& row : slow.rows) {
    if (!row.contains("slow_rank")) continue;
    steps += row.at("step").dump() + " ";
    EXPECT_EQ(row.at("slow_rank"), last_rank());
    EXPECT_EQ(row.at("slow_rank_wait_s"), 10);
  }
  EXPECT_EQ(steps, "3 4 5 6 ");
  auto const name = fmt::format("rank {} (host ", last_rank());
  for (auto const& event : read_events(slow.dir)) {
    story += event.at("event").get<std::string>() + event.at("step").dump() + " ";
    if (!event.contains("rank")) continue;
    EXPECT_EQ(event.at("rank"), last_rank());
    EXPECT_TRUE(event.at("why").get<std::string>().starts_with(name)) << event;
  }
  EXPECT_EQ(story, "start0 slow-rank5 slow-rank-over9 end10 ");
  auto const said = "is slow: the others wait 10 s of each 20 s step for it; docs/runs.md";
  EXPECT_EQ(count_of(slow.output, said), 1u) << slow.output;
  std::size_t repeated = 0;
  for (auto const& warning : slow.summary.at("warnings"))
    repeated += count_of(warning.get<std::string>(), said);
  EXPECT_EQ(repeated, 1u) << slow.summary.at("warnings");
}

INSTANTIATE_TEST_SUITE_P(Ranks, SlowRanks, ::testing::Values(2, 3));

// As measured: of eight micro-batches rank 1 has seven, and in each of eight steps rank 0 would
// have to be held up for as long as six of them take before it did not wait.
TEST(SlowRank, is_found_in_what_ranks_have_measured) {
  auto const run =
      Experiment("slow_ranks_measured", 2)
          .run("run", {"run.steps=8", "batch.micro=1", "batch.share=[1,7]", "run.eval.every=0"});
  ASSERT_EQ(run.status, 0);
  auto const is_found = [](auto const& row) { return row.value("slow_rank", -1) == 1; };
  EXPECT_TRUE(std::ranges::any_of(run.rows, is_found)) << run.output;
}

// One rank waits for nobody, whatever it is told.
TEST(SlowRank, is_none_of_one) {
  auto const run = Experiment("slow_ranks_1", 0).run("run", {"debug.fault=rank-told-slow:1"});
  ASSERT_EQ(run.status, 0);
  for (auto const& row : run.rows) EXPECT_FALSE(row.contains("slow_rank")) << row;
  EXPECT_EQ(read_events(run.dir).size(), 2u);
}

}  // namespace
}  // namespace spillway::test::slow_ranks_test
