#include "train/due.hpp"

#include <gtest/gtest.h>

#include <string>

namespace spillway::due_test {
namespace {

template <class Due>
std::string steps(Due const& due) {
  std::string result;
  for (std::int64_t step = 1; step <= 7; ++step)
    if (due(step)) result += std::to_string(step);
  return result;
}

TEST(Due, evaluations_are_every_so_many_steps_and_at_the_last_one) {
  RunConfig run;
  run.steps = 7;
  auto const evaluated = [&](std::int64_t every) {
    run.eval_every = every;
    return steps([&](std::int64_t step) { return evaluation_is_due(run, step); });
  };
  EXPECT_EQ(evaluated(0), "7");
  EXPECT_EQ(evaluated(1), "1234567");
  EXPECT_EQ(evaluated(3), "367");
  EXPECT_EQ(evaluated(100), "7");
}

TEST(Due, checkpoints_are_by_steps_or_minutes) {
  CheckpointConfig policy;
  auto const saved = [&](std::int64_t every) {
    policy.every = every;
    return steps([&](std::int64_t step) { return save_is_due_by_step(policy, step); });
  };
  EXPECT_EQ(saved(0), "");
  EXPECT_EQ(saved(2), "246");
  EXPECT_FALSE(save_is_due_by_time(policy, 1e9));
  policy.minutes = 2;
  EXPECT_FALSE(save_is_due_by_time(policy, 120));
  EXPECT_TRUE(save_is_due_by_time(policy, 120.5));
}

TEST(Due, a_checkpoint_may_follow_the_next_turn) {
  CheckpointConfig policy;
  policy.every = 3;
  EXPECT_EQ(steps([&](std::int64_t step) { return save_may_be_next(policy, step, 1e9, 1e9); }),
            "25");
  policy.minutes = 2;
  EXPECT_FALSE(save_may_be_next(policy, 3, 100, 20));
  EXPECT_TRUE(save_may_be_next(policy, 3, 100, 20.5));
  policy.every = 0;
  EXPECT_FALSE(save_may_be_next(policy, 3, 100, 20));
}

}  // namespace
}  // namespace spillway::due_test
