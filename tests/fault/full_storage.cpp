// Storage without room for the spill file: another plan where one is allowed, else the sizes and
// the smallest budgets.
#include <fmt/format.h>

#include <algorithm>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::full_storage_test {
namespace {

class FullStorage : public FaultTest {
 protected:
  // No file may be larger: what the file system says is free cannot be had.
  Outcome train_limited(int mebibytes, std::string const& overrides, int ranks = kAlone) {
    return run_command(
        fmt::format("ulimit -f {}; ", mebibytes * 2048) + train_command(overrides, ranks), 60);
  }

  std::string const m_nvme = fmt::format(" memory.nvme.path={} ", path("nvme"));
};

TEST_F(FullStorage, more_than_the_file_system_has_is_refused_with_the_budgets_that_would_do) {
  auto const outcome = train(m_nvme +
                             "memory.nvme.size=4096TiB "
                             "plan.activations=nvme batch.sequences=50000000 batch.micro=50000000");
  EXPECT_TRUE(fails_with(3, path("nvme") + " has no 4 PiB", outcome));
  EXPECT_TRUE(fails_with(3, "needs at least memory.device=", outcome));
  EXPECT_TRUE(fails_with(3, " and memory.nvme.size=", outcome));
}

TEST_F(FullStorage, a_size_beyond_the_file_system_is_no_obstacle_to_a_plan_that_needs_less) {
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const run = fmt::format(" run.dir={}", path(fmt::format("run-{}", ranks)));
    auto const outcome =
        train(m_nvme + "memory.nvme.size=4096TiB plan.activations=nvme" + run, ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    auto const said = fmt::format("warning: memory.nvme.size = 4 PiB: {} has ", path("nvme"));
    auto const lines = outcome.lines();
    EXPECT_EQ(std::ranges::count_if(lines,
                                    [&](auto const& line) { return line.find(said) != line.npos; }),
              1)
        << outcome.output;
  }
}

TEST_F(FullStorage, that_refuses_what_it_promised_is_named_and_forced_keys_end_there) {
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const outcome = train_limited(16, spilling(), ranks);
    EXPECT_TRUE(fails_with(3, "needs at least memory.nvme.size=", outcome));
    EXPECT_NE(outcome.output.find(path("nvme") + " cannot hold the spill file: "),
              std::string::npos);
    EXPECT_TRUE(std::filesystem::is_empty(m_dir / "nvme"));
  }
}

// The spares take 16 MiB of it. With less to spill to, the automatic micro-batch is smaller.
TEST_F(FullStorage, that_refuses_what_it_promised_is_planned_around_by_auto) {
  write("job.yaml", [text = read("job.yaml")]() mutable {
    auto const micro = std::string(", micro: 4");
    return text.erase(text.find(micro), micro.size());
  }());
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const run = fmt::format("model.layers=4 run.dir={}", path(fmt::format("run-{}", ranks)));
    auto const outcome = train_limited(18, spilling() + run, ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("planned again with half of it"), std::string::npos)
        << outcome.output;
  }
}

// It may have room; what is wrong with it no smaller spill file mends.
TEST_F(FullStorage, that_fails_to_reserve_anything_is_not_taken_for_full) {
  if (!can_preload()) GTEST_SKIP();
  Planted const fault{.calls = "fallocate", .path = path("nvme"), .what = "EIO"};
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const outcome = run_command(planted(fault) + train_command(spilling(), ranks), 60);
    EXPECT_TRUE(fails_with(4, path("nvme") + ": no bytes can be reserved: ", outcome));
    EXPECT_EQ(outcome.output.find("planned again"), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace spillway::test::full_storage_test
