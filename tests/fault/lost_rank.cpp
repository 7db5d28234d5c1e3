// A rank that dies, stops, sticks in a call or has no memory takes the others with it, soon; it is
// named, and the run can go on.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::lost_rank_test {
namespace {

namespace fs = std::filesystem;

// Nobody would end it where the test itself was killed.
constexpr auto kEndless = " run.steps=1000000 run.checkpoint.every=2 run.max_time=50m ";
// Parameters are gathered all the time, so that a lost rank is missed in a gather.
constexpr auto kGathers = " plan.shard=all ";

class LostRank : public FaultTest {
 protected:
  // Counts processes of the job that are still there. What mpirun has killed gets a minute to end.
  int survivors() const {
    int count = processes();
    for (int tries = 0; count > 0 && tries < 600; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      count = processes();
    }
    return count;
  }
  int processes() const {
    int count = 0;
    for (auto const& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::string const line{std::istreambuf_iterator<char>(file), {}};
      bool const ours = line.find("bin/spillway") != std::string::npos &&
                        line.find("/bin/sh") == std::string::npos;
      count += ours && line.find(path("job.yaml")) != std::string::npos;
    }
    return count;
  }

  // Shell: what to do with rank 1 of the job, $rank1, once it has done some steps.
  std::string then(std::string const& what) const {
    auto const processes = fmt::format(
        "$(grep -l {} /proc/[0-9]*/cmdline | sed s/cmdline/environ/)", path("job.yaml"));
    return " & " + until("test -e " + path("run/latest")) +
           fmt::format("rank1=$(grep -lzx OMPI_COMM_WORLD_RANK=1 {} | cut -d/ -f3); ", processes) +
           what + "; wait $!";
  }

  // Nothing is left but a run that goes on as one that was never disturbed.
  void expect_to_go_on(std::string const& overrides) {
    EXPECT_EQ(survivors(), 0);
    EXPECT_TRUE(fs::is_empty(m_dir / "nvme"));
    auto const steps = std::stoll(read("run/latest").substr(5)) + 2;
    auto const to_end = fmt::format("{} run.steps={} run.checkpoint.every=2 ", overrides, steps);
    ASSERT_EQ(train(to_end, kTwoRanks).status, 0);
    ASSERT_EQ(train(to_end + "run.dir=" + path("whole"), kTwoRanks).status, 0);
    EXPECT_EQ(bits("run"), bits("whole"));
  }
};

TEST_F(LostRank, the_others_end_and_the_checkpoint_before_serves) {
  auto const command = spilling() + kGathers + "run.steps=5 run.checkpoint.every=2";
  auto const outcome = run_command(train_command(command + " debug.fault=kill-rank:4", kTwoRanks));
  EXPECT_EQ(outcome.status, 137) << outcome.output;  // as mpirun tells it
  EXPECT_LE(complaints(outcome).size(), 1u) << outcome.output;
  EXPECT_EQ(read("run/latest"), "step-2\n");
  expect_to_go_on(spilling());
}

TEST_F(LostRank, one_that_stops_is_named) {
  auto const command =
      train_command(spilling() + kGathers + kEndless + "run.peer_timeout=20s", kTwoRanks);
  auto const outcome = run_command(command + then("kill -STOP $rank1"));
  EXPECT_TRUE(fails_with(6, "rank 0: no word from rank 1 for 20 s", outcome));
  for (auto const* file : {"run/summary.json", "run/metrics.jsonl"}) {
    auto const text = read(file);
    EXPECT_NE(text.find("no word from rank 1 for 20 s"), text.npos) << file << text;
  }
  expect_to_go_on(spilling());
}

TEST_F(LostRank, one_that_stops_for_less_than_the_timeout_goes_on) {
  auto const command = train_command(kEndless, kTwoRanks);
  auto const outcome =
      run_command(command + then("kill -STOP $rank1; sleep 3; kill -CONT $rank1; kill -USR1 $!"));
  EXPECT_EQ(outcome.status, 75) << outcome.output;
  EXPECT_TRUE(complaints(outcome).empty()) << outcome.output;
}

// Ranks end their micro-batches at different times, and wait for each other longer.
TEST_F(LostRank, one_with_another_share_of_the_batch_is_named_or_stops_with_the_others) {
  std::string const uneven = spilling() + "batch.share=[5,1] batch.sequences=6 batch.micro=1 ";
  auto const command = train_command(uneven + kEndless + "run.peer_timeout=20s", kTwoRanks);
  auto const stopped = run_command(command + then("kill -USR1 $rank1"));
  EXPECT_EQ(stopped.status, 75) << stopped.output;
  EXPECT_TRUE(complaints(stopped).empty()) << stopped.output;
  fs::remove_all(m_dir / "run");  // or the next run would be lost before it begins
  auto const lost = run_command(command + then("kill -STOP $rank1"));
  EXPECT_TRUE(fails_with(6, "rank 0: no word from rank 1 for 20 s", lost));
  expect_to_go_on(uneven);
}

TEST_F(LostRank, one_that_hangs_in_a_call_is_named) {
  if (!can_preload()) GTEST_SKIP() << "sanitizers want to be loaded first";
  ASSERT_EQ(train("run.steps=2", kTwoRanks).status, 0);
  Planted const fault{.calls = "pwrite", .path = "shard-1.h5", .what = "hang", .rank = "1"};
  auto const command =
      planted(fault) +
      train_command(spilling() + kGathers + kEndless + "run.peer_timeout=20s", kTwoRanks);
  EXPECT_TRUE(fails_with(6, "rank 0: no word from rank 1 for 20 s", run_command(command)));
  EXPECT_EQ(read("run/latest"), "step-2\n");
  expect_to_go_on("");
}

// As where its share of a node's memory is smaller than the others'.
TEST_F(LostRank, one_without_memory_is_named) {
  if (!can_preload()) GTEST_SKIP() << "sanitizers want more addresses than the limit leaves";
  write("rank.sh", "[ $OMPI_COMM_WORLD_RANK = 0 ] || ulimit -v 900000\nexec \"$@\"\n");
  auto command =
      train_command("memory.device=2GiB batch.micro=1024 batch.sequences=2048 ", kTwoRanks);
  command.insert(command.find(spillway_command(kAlone)), "sh " + path("rank.sh") + " ");
  auto const outcome = run_command(command);
  EXPECT_NE(outcome.status, 0);
  EXPECT_EQ(complaints(outcome).size(), 1u) << outcome.output;
  EXPECT_NE(outcome.output.find("spillway: rank 1: "), std::string::npos) << outcome.output;
  EXPECT_EQ(survivors(), 0);
}

}  // namespace
}  // namespace spillway::test::lost_rank_test
