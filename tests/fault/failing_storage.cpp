// Transfers of spilled activations that fail: the step does not count and is done again; where that
// does not help, the run stops where it can go on.
#include <fmt/format.h>

#include "fault_test.hpp"

namespace spillway::test {
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

}  // namespace
}  // namespace spillway::test
