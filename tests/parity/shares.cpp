// Ranks with unlike shares of a batch: places, groups and what ranks share out change no bit, every
// sample is trained on once, and checkpoints go on with other shares and other numbers of ranks.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "tests/parity/experiment.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::shares_test {
namespace {

constexpr int kRanks = 3, kSequences = 7;

// Of seven micro-batches ranks run 4, 1 and 2.
Keys const kKeys = {"run.steps=10",    "batch.sequences=7", "batch.micro=1",
                    "optim.clip=0.25", "memory.host=16MiB", "debug.log_samples=true"};
Keys const kShare = {"batch.share=[3,1,2]"};
Keys const kWatched = {"debug.poison=true", "debug.locked_allocator=true"};

Experiment const& of_three() {
  static Experiment const experiment("shares", kRanks, kKeys);
  return experiment;
}

Run const& plain() {
  static Run const run = of_three().run("none", kShare + Keys{"plan.shard=none", "plan.group=1"});
  return run;
}

std::vector<Keys> all_plans() {
  std::vector<Keys> plans;
  for (char const* const shard : {"auto", "none", "optimizer", "gradients"})
    for (char const* const tier : {"device", "host", "nvme"})
      for (char const* const group : {"1", "2", "3", "auto"})
        plans.push_back(
            {fmt::format("plan.shard={}", shard), fmt::format("plan.group={}", group),
             fmt::format("plan.parameters={}", tier), fmt::format("plan.optimizer={}", tier),
             fmt::format("plan.gradients={}", tier == std::string("device") ? "device" : "host")});
  return plans;
}

TEST(Shares, decide_the_bits_and_no_plan_does) {
  constexpr std::size_t some = 5;
  auto const plans = all_plans();
  auto const step = takes_all() ? 1 : plans.size() / some;
  for (auto at = takes_all() ? 0 : turn_of(step, 2); at < plans.size(); at += step) {
    auto const run = of_three().run(fmt::format("plan_{}", at), kShare + plans[at] + kWatched);
    ASSERT_FALSE(HasFailure()) << at;
    expect_equal_steps(plain(), run);
    expect_equal_state(plain(), run);
    expect_measured_as_planned(run);
  }
}

TEST(Shares, train_as_one_rank_does_to_summation_order) {
  Keys const exact = {"precision=fp32"};
  auto const one = Experiment("shares_1", 0, kKeys + exact).run("run");
  auto const run = of_three().run("exact", kShare + exact);
  expect_near(one, run, "loss", 1e-5);
  expect_near(one, run, "grad_norm", 1e-4);
  expect_near(one, run, "tokens", 0);
  EXPECT_NEAR(one.number(9, "valid_loss"), run.number(9, "valid_loss"), 1e-4);
  expect_samples_once(run, 1, 10, kSequences);
}

TEST(Shares, are_said_with_the_plan) {
  std::ostringstream plan;
  plan << std::ifstream(plain().dir / "plan.txt").rdbuf();
  EXPECT_NE(plan.str().find("up to 4 micro-batches of 64"), std::string::npos) << plan.str();
  EXPECT_NE(plain().output.find("Micro-batches of a step, by rank (batch.share): 4, 1, 2; the plan "
                                "stays\n"),
            std::string::npos)
      << plain().output;
}

TEST(Shares, go_on_from_a_checkpoint_to_the_bit) {
  expect_samples_once(plain(), 1, 10, kSequences);
  auto const resumed =
      of_three().resume("resumed", plain(), 6, kShare + Keys{"plan.parameters=host"});
  EXPECT_EQ(resumed.output.find("to summation order"), std::string::npos) << resumed.output;
  expect_equal_steps(plain(), resumed);
  expect_equal_state(plain(), resumed);
}

// The same samples, in other sums, and the run says so.
TEST(Shares, may_change_and_so_may_the_number_of_ranks) {
  auto const equal = of_three().resume("equal", plain(), 6, {});
  EXPECT_NE(equal.output.find("share: [3, 1, 2] -> equal"), std::string::npos) << equal.output;
  expect_samples_once(equal, 7, 10, kSequences);
  Experiment const two("shares_2", 2, kKeys);
  auto const of_two = two.resume("of_two", plain(), 6, {"batch.share=[2,5]"});
  expect_samples_once(of_two, 7, 10, kSequences);
  // Rank 0 has fewer micro-batches than the other one, for which it waits.
  auto const promised_s = read_events(of_two.dir).at(0).at("predicted_step_s");
  EXPECT_EQ(promised_s, of_two.summary.at("predicted_step_s"));
  std::ifstream plan(of_two.dir / "plan.json");
  EXPECT_EQ(promised_s, nlohmann::json::parse(plan).at("predicted_step_s"));
  for (auto const& [ranks, run] : {std::pair(3, &equal), std::pair(2, &of_two)})
    for (std::size_t i = 0; i < run->rows.size(); ++i)
      EXPECT_NEAR(run->number(i, "loss"), plain().number(6 + i, "loss"), 2e-2) << ranks << " ranks";
}

}  // namespace
}  // namespace spillway::test::shares_test
