// Transfers of spilled activations that fail: the step does not count, the run stops where it can
// go on.
#include <fmt/format.h>

#include "fault_test.hpp"

namespace spillway::test {
namespace {

class FailingStorage : public FaultTest {
 protected:
  // Runs into the fault, then the same command without it; the steps must be those of `whole`.
  void expect_to_go_on(std::string const& fault, int ranks) {
    SCOPED_TRACE(fault);
    auto const run = fmt::format("{}-{}", fault, ranks);
    auto const command = spilling() + "run.steps=5 run.dir=" + path(run);
    auto const transfer = fault == "storage-read" ? "read of " : "write of ";
    auto const outcome = train(command + " debug.fault=" + fault + ":40", ranks);
    EXPECT_TRUE(fails_with(4, transfer, outcome));
    EXPECT_LT(bits(run).size(), 5u);
    EXPECT_EQ(read_summary(m_dir / run)["exit"], 4);
    EXPECT_EQ(train(command, ranks).status, 0);
    EXPECT_EQ(bits(run), bits(fmt::format("whole-{}", ranks)));
    EXPECT_TRUE(std::filesystem::is_empty(m_dir / "nvme"));
  }

  void expect_to_go_on(int ranks) {
    auto const whole =
        fmt::format("run.steps=5 run.dir={}", path("whole-" + std::to_string(ranks)));
    ASSERT_EQ(train(spilling() + whole, ranks).status, 0);
    expect_to_go_on("storage-read", ranks);
    expect_to_go_on("storage-write", ranks);
  }
};

TEST_F(FailingStorage, a_failed_transfer_costs_no_bit_of_a_run) {
  expect_to_go_on(kAlone);
}

TEST_F(FailingStorage, two_ranks_stop_alike_and_go_on_to_the_same_bits) {
  expect_to_go_on(kTwoRanks);
}

}  // namespace
}  // namespace spillway::test
