// A rank that dies takes the others with it, soon, and the run can go on.
#include <fmt/format.h>

#include <chrono>

#include "fault_test.hpp"

namespace spillway::test {
namespace {

namespace fs = std::filesystem;

class LostRank : public FaultTest {};

TEST_F(LostRank, the_others_end_and_the_checkpoint_before_serves) {
  auto const command = spilling() + "run.steps=5 run.checkpoint.every=2";
  auto const outcome =
      run_command(train_command(command + " debug.fault=kill-rank:4", kTwoRanks), 60);
  EXPECT_EQ(outcome.status, 137) << outcome.output;  // as mpirun tells it
  EXPECT_LE(complaints(outcome).size(), 1u) << outcome.output;
  EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
  EXPECT_EQ(read("run/latest"), "step-2\n");

  ASSERT_EQ(train(command, kTwoRanks).status, 0);
  ASSERT_EQ(train(command + " run.dir=" + path("whole"), kTwoRanks).status, 0);
  EXPECT_EQ(bits("run"), bits("whole"));
}

}  // namespace
}  // namespace spillway::test
