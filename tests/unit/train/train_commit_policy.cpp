#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/graph.hpp"
#include "train/commit_policy.hpp"

namespace spillway::train_commit_policy_test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::int64_t kUpdates = 1;  // before step 2: one step was skipped

// A gradient of the sum of 8 tokens' losses whose norm is 40: the mean's is 5.
CommitSums sums() {
  return {.step = 2, .loss_sum = 20, .weight_sum = 8, .norm_squared = 1600};
}

OptimConfig optim(double clip) {
  OptimConfig result;
  result.clip = clip;
  result.warmup = 0;
  return result;
}

double scale(double clip) {
  return decide_commit(optim(clip), 100, kUpdates, sums()).control[control_gradient_scale];
}

TEST(CommitPolicy, reports_the_norm_of_the_mean_gradient_before_clipping) {
  for (double const clip : {0.0, 1.0, 100.0}) {
    EXPECT_DOUBLE_EQ(decide_commit(optim(clip), 100, kUpdates, sums()).grad_norm, 5);
  }
}

TEST(CommitPolicy, divides_by_the_weight_alone_when_clipping_is_off_or_does_not_bite) {
  EXPECT_DOUBLE_EQ(scale(0), 1.0 / 8);
  EXPECT_DOUBLE_EQ(scale(5.1), 1.0 / 8);
}

TEST(CommitPolicy, scales_a_larger_norm_as_clip_grad_norm_does) {
  EXPECT_DOUBLE_EQ(scale(2), 2 / (5 + 1e-6) / 8);
  EXPECT_DOUBLE_EQ(scale(5), 5 / (5 + 1e-6) / 8);  // the epsilon bites at equality, as there
}

TEST(CommitPolicy, corrects_the_moments_bias_for_updates_done_and_not_for_skipped_steps) {
  auto const config = optim(1);
  auto const decision = decide_commit(config, 100, kUpdates, sums());
  EXPECT_DOUBLE_EQ(decision.control[control_bias1], 1 - std::pow(config.beta1, kUpdates + 1));
  EXPECT_DOUBLE_EQ(decision.control[control_bias2], 1 - std::pow(config.beta2, kUpdates + 1));
  EXPECT_EQ(decision.control[control_update], kUpdates + 1);
  EXPECT_EQ(decision.control[control_learning_rate], decision.learning_rate);
  EXPECT_EQ(decision.word, CommitWord::go);
}

TEST(CommitPolicy, does_not_go_on_with_what_is_not_finite) {
  auto const word = [](double loss, double weight, double norm_squared) {
    return decide_commit(optim(1), 100, kUpdates, {0, loss, weight, norm_squared}).word;
  };
  EXPECT_EQ(word(1, 1, 1), CommitWord::go);
  for (double const bad : {kNan, kInfinity, -kInfinity}) {
    EXPECT_EQ(word(bad, 1, 1), CommitWord::non_finite);
    EXPECT_EQ(word(1, 1, bad), CommitWord::non_finite);
  }
}

TEST(CommitPolicy, has_nothing_to_learn_where_no_token_has_weight) {
  for (double const clip : {0.0, 1.0}) {
    auto const config = optim(clip);
    auto const decision = decide_commit(config, 100, kUpdates, {2, 0, 0, 0});
    EXPECT_EQ(decision.word, CommitWord::nothing);
    EXPECT_TRUE(std::isnan(decision.grad_norm));
    EXPECT_EQ(decision.learning_rate,  // the schedule goes on
              decide_commit(config, 100, kUpdates, sums()).learning_rate);
    for (double const bad : {kNan, kInfinity}) {
      EXPECT_EQ(decide_commit(config, 100, kUpdates, {2, bad, 0, 0}).word, CommitWord::non_finite);
      EXPECT_EQ(decide_commit(config, 100, kUpdates, {2, 0, 0, bad}).word, CommitWord::non_finite);
    }
  }
}

// Of 5 steps this is the third, and the second that updates.
TEST(CommitPolicy, takes_the_rate_of_the_step_and_not_of_the_updates) {
  auto config = optim(1);
  config.schedule = Schedule::linear;
  config.lr = 8;
  config.min_lr = 0;
  for (double const weight : {8.0, 0.0}) {
    auto const decision = decide_commit(config, 5, kUpdates, {2, 0, weight, 0});
    EXPECT_DOUBLE_EQ(decision.learning_rate, 4) << weight;
  }
}

TEST(CommitPolicy, lets_a_gradient_of_zero_pass) {
  auto const decision = decide_commit(optim(1), 100, kUpdates, {0, 1, 4, 0});
  EXPECT_EQ(decision.word, CommitWord::go);
  EXPECT_EQ(decision.control[control_gradient_scale], 0.25);
}

}  // namespace
}  // namespace spillway::train_commit_policy_test
