// These tests compute by hand what a run over a number of tokens takes, and read it in words.
#include "plan/time/run_cost.hpp"

#include <gtest/gtest.h>

#include "plan/explain/run_text.hpp"

namespace spillway::test::run_cost_test {
namespace {

Machine priced() {
  Machine machine;
  machine.nvme_endurance_bytes = 1'000'000'000'000'000;
  machine.power_w = 500;
  machine.price_per_hour = 2;
  return machine;
}

// A step is of 1000 tokens in 2 s on 4 ranks, and a checkpoint of 30 s follows each 100 steps.
StepCost step() {
  return {.tokens = 1000,
          .step_s = 2,
          .drive = {.step_bytes = 5e9},
          .ranks = 4,
          .save_s = 30,
          .save_every = 100};
}

TEST(RunCost, is_that_of_whole_steps_and_of_checkpoints) {
  auto const run = run_cost(999'001, step(), priced());
  EXPECT_EQ(run.tokens, 999'001);
  EXPECT_EQ(run.steps, 1000);
  EXPECT_EQ(run.checkpoints, 10);
  EXPECT_DOUBLE_EQ(run.checkpoints_s, 300);
  EXPECT_DOUBLE_EQ(run.seconds, 2300);
  EXPECT_DOUBLE_EQ(run.written_bytes, 5e12);
  EXPECT_DOUBLE_EQ(run.rated_wear, 0.005);
  EXPECT_DOUBLE_EQ(run.used_wear, 0.005 / 215);
  EXPECT_DOUBLE_EQ(run.energy_kwh, 500 * 4 * 2300 / 3.6e6);
  EXPECT_DOUBLE_EQ(run.price, 2.0 * 4 * 2300 / 3600);
  EXPECT_EQ(run_cost(1e6 + 1, step(), priced()).checkpoints, 11) << "the last one at the end";
  auto once = step();
  once.save_every = 0;
  EXPECT_EQ(run_cost(1e6, once, priced()).checkpoints, 1);
}

TEST(RunCost, is_not_known_where_a_step_or_the_machine_says_nothing) {
  auto unknown = step();
  unknown.step_s = 0;
  auto const run = run_cost(1e6, unknown, priced());
  EXPECT_EQ(run.seconds, 0);
  EXPECT_EQ(run.price, 0);
  EXPECT_EQ(run.steps, 1000);
  EXPECT_EQ(run_text(run, priced()),
            "\nA run of 1M tokens: 1000 steps; nobody knows how long each takes\n"
            "  drives  5 TB written on each node: 0.5 % of their life as rated, 0.0023 % of\n"
            "          it with writes amplified 1 x, rated 2.5 x; data kept a day: 86 x the\n"
            "          writes\n");
  auto const free = run_cost(1e6, step(), {});
  EXPECT_EQ(free.energy_kwh, 0);
  EXPECT_EQ(free.price, 0);
}

TEST(RunCost, is_told_with_the_keys_that_are_missing) {
  auto kept = step();
  kept.drive = {};
  auto text = run_text(run_cost(1.5e9, kept, priced()), priced());
  EXPECT_EQ(text,
            "\nA run of 1.5B tokens: 1500000 steps take 39d22h, of which 5d5h are for 15000\n"
            "  checkpoints\n"
            "  energy  1917 kWh, at 500 W a rank\n"
            "  price   7667, at 2 an hour a rank\n");
  text = run_text(run_cost(1.5e9, kept, {}), {});
  EXPECT_NE(text.find("  energy  not known: power_w in the machine file says it\n"), text.npos);
  EXPECT_NE(text.find("  price   not known: price_per_hour in the machine file says it\n"),
            text.npos);
  auto const worn = run_text(run_cost(1e9, step(), priced()), priced());
  EXPECT_NE(worn.find(": 5 times their life as rated, 2.3 % of it\n          with"), worn.npos)
      << worn;
}

TEST(RunCost, has_numbers_for_people) {
  EXPECT_EQ(tokens_text(100e9), "100B");
  EXPECT_EQ(tokens_text(1.5e12), "1.5T");
  EXPECT_EQ(tokens_text(999.9e6), "1B");
  EXPECT_EQ(tokens_text(300e6), "300M");
  EXPECT_EQ(tokens_text(2048), "2.05K");
  EXPECT_EQ(tokens_text(7), "7");
  EXPECT_EQ(amount_text(0.25), "0.25");
  EXPECT_EQ(amount_text(12345), "12345");
  EXPECT_EQ(amount_text(1.234e7), "12.3 million");
}

}  // namespace
}  // namespace spillway::test::run_cost_test
