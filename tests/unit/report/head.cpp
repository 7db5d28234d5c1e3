#include "report/head.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>

namespace spillway::head_test {
namespace {

RunHead head() {
  RunHead head{.run = "runs/a", .hosts = {"n1", "n1"}};
  head.where = "the cores with 2 ranks of 4 threads";
  head.family = "gpt";
  head.precision = "bf16";
  head.parameters = head.trainable_parameters = 124'439'808;
  head.train_tokens = 3'660'000;
  head.valid_tokens = 185'000;
  head.steps = 600;
  head.step_tokens = 81'920;
  head.epochs = 13.43;
  head.step_s = 2;
  head.left = {600, 4, 2, 1200, 20, 10};
  head.binds = "computing 81 %, working on the host 19 % of a step";
  head.now = 1'767'225'600;  // 2026-01-01T00:00:00Z
  return head;
}

// Local times of these tests are those of UTC.
class Head : public ::testing::Test {
 protected:
  Head() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

TEST_F(Head, says_what_will_happen) {
  EXPECT_EQ(head_text(head()),
            "runs/a:\n"
            "  where      n1: the cores with 2 ranks of 4 threads\n"
            "  model      gpt of 124M parameters (124439808), bf16\n"
            "  data       3.66M tokens to train on, 185K to validate\n"
            "  run        600 steps of 81920 tokens; 49.2M tokens in all: 13.4 epochs\n"
            "  step       2 s predicted, 40960 tokens/s\n"
            "  binds      computing 81 %, working on the host 19 % of a step\n"
            "  takes      20m30s, of which 20 s are for 4 evaluations and 10 s for 2\n"
            "             checkpoints: until Thu 01 Jan, 00:20\n");
}

TEST_F(Head, says_what_is_read_of_each_source_of_a_mix) {
  auto mixed = head();
  mixed.epochs = 0;
  mixed.mix = {{"tokens/a.h5", 0.75, 3.21}, {"tokens/b-*.h5", 0.25, 0.4}};
  EXPECT_NE(head_text(mixed).find("  mix        tokens/a.h5: 75 % of the sequences, 3.21 epochs\n"
                                  "             tokens/b-*.h5: 25 % of the sequences, 0.4 epochs\n"
                                  "  run        600 steps of 81920 tokens; 49.2M tokens in all\n"),
            std::string::npos)
      << head_text(mixed);
}

TEST_F(Head, of_a_job_that_goes_on_counts_what_is_left) {
  auto later = head();
  later.steps_done = 400;
  later.trainable_parameters = 2'300'000;
  later.valid_tokens = 0;
  later.left = {200, 0, 1, 400, 0, 10};
  later.limit_s = 300;
  auto const text = head_text(later);
  for (auto const* said :
       {"\n  model      gpt of 124M parameters (124439808), 2.3M of them trained, bf16\n",
        "\n  data       3.66M tokens to train on\n",
        "\n  run        steps 401 to 600 of 81920 tokens: 16.4M tokens are left; with what\n"
        "             is done 49.2M tokens in all: 13.4 epochs\n",
        "\n  takes      6m50s for what is left, of which 10 s are for 1 checkpoint: until\n"
        "             Thu 01 Jan, 00:06\n",
        "\n  limit      this job stops after 5m (run.max_time), and the same command goes\n"
        "             on\n"})
    EXPECT_NE(text.find(said), text.npos) << said << text;
  later.limit_s = 500;
  EXPECT_EQ(head_text(later).find("limit"), text.npos) << "it does not come to that";
}

TEST_F(Head, of_a_plan_says_neither_where_nor_until_when) {
  auto planned = head();
  planned.now = 0;
  EXPECT_EQ(planned_rows(planned),
            "  model      gpt of 124M parameters (124439808), bf16\n"
            "  data       3.66M tokens to train on, 185K to validate\n"
            "  run        600 steps of 81920 tokens; 49.2M tokens in all: 13.4 epochs\n"
            "  takes      20m30s, of which 20 s are for 4 evaluations and 10 s for 2\n"
            "             checkpoints\n");
  planned.train_tokens = planned.valid_tokens = 0;
  planned.epochs = planned.step_s = 0;
  EXPECT_EQ(planned_rows(planned),
            "  model      gpt of 124M parameters (124439808), bf16\n"
            "  run        600 steps of 81920 tokens; 49.2M tokens in all\n")
      << "of data that are not here, and steps of unknown length";
}

TEST_F(Head, promises_nothing_where_nobody_knows) {
  auto unknown = head();
  unknown.step_s = 0;
  unknown.binds = "";
  auto const text = head_text(unknown);
  EXPECT_TRUE(text.ends_with("\n  step       nobody knows how long one takes\n")) << text;
}

TEST_F(Head, fits_a_page) {
  auto wide = head();
  for (int i = 0; i < 40; ++i)
    wide.hosts.push_back("a-rather-long-name-of-a-host-" + std::to_string(i));
  wide.where = "42 GPUs, NVIDIA H100 80GB HBM3 (sm_90), with 42 ranks";
  std::istringstream lines(head_text(wide));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Hosts, are_named_once_with_their_ranks) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(hosts_text(Names{"a"}), "a");
  EXPECT_EQ(hosts_text(Names{"a", "a", "a"}), "a");
  EXPECT_EQ(hosts_text(Names{"a", "b", "a"}), "a (2 ranks), b (1 rank)");
  EXPECT_EQ(hosts_text(Names{"a", "b", "c", "d", "e"}), "a .. e (5 hosts)");
}

}  // namespace
}  // namespace spillway::head_test
