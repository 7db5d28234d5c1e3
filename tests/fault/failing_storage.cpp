// Transfers of spilled activations that fail: the step does not count and is done again; where that
// does not help, the run stops where it can go on.
#include <fmt/format.h>

#include <set>

#include "fault_test.hpp"
#include "tests/parity/experiment.hpp"

namespace spillway::test::failing_storage_test {
namespace {

class FailingStorage : public FaultTest {
 protected:
  std::string command(std::string const& run) const {
    return spilling() + "run.steps=5 run.dir=" + path(run);
  }
  static std::string named(char const* name, std::string const& fault, int ranks) {
    return fmt::format("{}-{}-{}", name, fault, ranks);
  }

  void expect_to_be_done_again(std::string const& fault, int ranks) {
    SCOPED_TRACE(fault);
    auto const run = named("once", fault, ranks);
    auto const outcome = train(command(run) + " debug.fault=" + fault + ":40", ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(complaints(outcome).empty()) << outcome.output;
    auto const words = fmt::format("spillway: warning: rank 0: spill file in {}: {} of ",
                                   path("nvme"), fault.substr(fault.find('-') + 1));
    auto const at = outcome.output.find(words);
    ASSERT_NE(at, std::string::npos) << outcome.output;
    EXPECT_NE(outcome.output.find("is done again", at), std::string::npos) << outcome.output;
    EXPECT_EQ(bits(run), bits(named("whole", "", ranks)));
  }

  // Runs into the fault, then the same command without it; the steps must be those of `whole`.
  void expect_to_go_on(std::string const& fault, int ranks) {
    SCOPED_TRACE(fault);
    auto const run = named("all", fault, ranks);
    auto const outcome = train(command(run) + " debug.fault=" + fault + "-all:40", ranks);
    EXPECT_TRUE(fails_with(4, fault.substr(fault.find('-') + 1) + " of ", outcome));
    EXPECT_LT(bits(run).size(), 5u);
    EXPECT_EQ(read_summary(m_dir / run)["exit"], 4);
    EXPECT_EQ(train(command(run), ranks).status, 0);
    EXPECT_EQ(bits(run), bits(named("whole", "", ranks)));
    EXPECT_TRUE(std::filesystem::is_empty(m_dir / "nvme"));
  }

  // All state in the spill file too.
  std::string by_seed(std::string const& run) const {
    return command(run) +
           " plan.parameters=nvme plan.gradients=nvme plan.optimizer=nvme run.checkpoint.every=2";
  }

  // Either the bits of `whole`, or a reason and a run that can go on to them. The status.
  int expect_no_harm(int seed, int ranks) {
    SCOPED_TRACE(seed);
    auto const run = named("seed", std::to_string(seed), ranks);
    auto const fault = fmt::format(" debug.fault=storage-random:{}", seed);
    auto const outcome = train(by_seed(run) + fault, ranks);
    auto const said = complaints(outcome);
    EXPECT_EQ(outcome.status == 0 ? 0 : 4, outcome.status) << outcome.output;
    EXPECT_TRUE(outcome.status == 0 || !said.empty()) << outcome.output;
    for (auto const& line : said)
      EXPECT_NE(line.find("spill file in " + path("nvme") + ": "), line.npos) << line;
    EXPECT_TRUE(std::filesystem::is_empty(m_dir / "nvme"));
    EXPECT_EQ(train(by_seed(run), ranks).status, 0);  // at once where all steps are done
    auto const whole = named("whole", "", ranks);
    EXPECT_EQ(bits(run), bits(whole));
    expect_equal_state(m_dir / whole, m_dir / run);
    return outcome.status;
  }

  // The statuses that were seen.
  std::set<int> expect_no_harm_by_seeds(int seeds, int ranks) {
    std::set<int> statuses;
    EXPECT_EQ(train(command(named("whole", "", ranks)), ranks).status, 0);
    for (int seed = 1; seed <= seeds; ++seed) statuses.insert(expect_no_harm(seed, ranks));
    return statuses;
  }

  void expect_no_bit_lost(int ranks) {
    ASSERT_EQ(train(command(named("whole", "", ranks)), ranks).status, 0);
    for (std::string const fault : {"storage-read", "storage-write"}) {
      expect_to_be_done_again(fault, ranks);
      expect_to_go_on(fault, ranks);
    }
  }
};

TEST_F(FailingStorage, a_failed_transfer_costs_no_bit_of_a_run) {
  expect_no_bit_lost(kAlone);
}

TEST_F(FailingStorage, two_ranks_decide_alike_and_go_on_to_the_same_bits) {
  expect_no_bit_lost(kTwoRanks);
}

TEST_F(FailingStorage, by_a_seed_ends_in_the_same_bits_or_with_a_reason_and_can_go_on) {
  EXPECT_EQ(expect_no_harm_by_seeds(12, kAlone), (std::set{0, 4}));
}

TEST_F(FailingStorage, by_a_seed_for_each_of_two_ranks_does_no_harm_either) {
  expect_no_harm_by_seeds(5, kTwoRanks);
}

// Wherever in training and evaluation reads begin to fail: no loss that is reported is wrong.
TEST_F(FailingStorage, under_an_evaluation_leaves_that_out_and_then_ends_the_run) {
  write_token_file(m_dir / "valid.h5", 2000);
  auto const keys = " plan.parameters=nvme run.eval.every=1 data.valid=" + path("valid.h5");
  ASSERT_EQ(train(command("whole") + keys).status, 0);
  auto const whole = bits("whole");
  int evaluations = 0;
  for (int nth = 10; nth <= 90; nth += 8) {
    SCOPED_TRACE(nth);
    auto const run = fmt::format("nth-{}", nth);
    auto const fault = fmt::format(" debug.fault=storage-read-all:{}", nth);
    auto const outcome = train(command(run) + keys + fault);
    EXPECT_EQ(outcome.status, 4) << outcome.output;
    auto const said = complaints(outcome);
    ASSERT_FALSE(said.empty()) << outcome.output;
    for (auto const& line : said)
      EXPECT_NE(line.find("spill file in " + path("nvme") + ": read of "), line.npos) << line;
    evaluations += outcome.output.find("no evaluation after step") != std::string::npos ? 1 : 0;
    for (auto const& [step, text] : bits(run)) {  // perhaps without its evaluation
      EXPECT_TRUE(whole.at(step).starts_with(text)) << text;
    }
  }
  EXPECT_GT(evaluations, 0);
}

}  // namespace
}  // namespace spillway::test::failing_storage_test
