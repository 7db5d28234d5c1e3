// Runs of different numbers of ranks: the same training to summation order.
#include <algorithm>
#include <cmath>

#include "tests/parity/experiment.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kSequence = 64;

double number(Run const& run, std::size_t row, char const* key) {
  return run.rows.at(row).at(key).get<double>();
}

void expect_near(Run const& one, Run const& other, char const* key, double tolerance) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_NEAR(number(one, i, key), number(other, i, key), tolerance * number(one, i, key))
        << key << " of step " << i + 1;
  }
}

TEST(Ranks, share_a_batch_without_changing_the_training) {
  Keys const keys = {"precision=fp32", "batch.sequences=6", "batch.micro=1"};
  auto const one = Experiment("ranks_1", 1, keys).run("run");
  for (int const ranks : {2, 3}) {
    auto const several = Experiment("ranks_" + std::to_string(ranks), ranks, keys).run("run");
    expect_near(one, several, "loss", 1e-5);
    expect_near(one, several, "grad_norm", 1e-4);
    expect_near(one, several, "tokens", 0);
    EXPECT_NEAR(number(one, 5, "valid_loss"), number(several, 5, "valid_loss"), 1e-4);
    expect_measured_as_planned(several);
  }
}

// Five sequences in pairs over two ranks: one rank's last micro-batch is half empty, the other's
// empty.
TEST(UnevenBatches, count_every_sequence_once) {
  Keys const keys = {"precision=fp32", "batch.sequences=5"};
  auto const whole = Experiment("uneven_1", 1, keys + Keys{"batch.micro=5"}).run("run");
  auto const uneven = Experiment("uneven_2", 2, keys + Keys{"batch.micro=2"}).run("run");
  ASSERT_EQ(uneven.rows.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(number(uneven, i, "tokens"), static_cast<double>(5 * kSequence * (i + 1)));
    EXPECT_TRUE(std::isfinite(number(uneven, i, "grad_norm")));
  }
  EXPECT_NEAR(number(uneven, 0, "loss"), number(whole, 0, "loss"), 1e-6);
  expect_near(whole, uneven, "loss", 1e-5);
  expect_near(whole, uneven, "grad_norm", 1e-4);
}

// One sequence and three ranks: two of them run micro-batches of weight zero.
TEST(UnevenBatches, may_leave_ranks_without_work) {
  Keys const keys = {"precision=fp32", "batch.sequences=1", "batch.micro=1"};
  auto const alone = Experiment("idle_1", 0, keys).run("run");
  auto const idle = Experiment("idle_3", 3, keys).run("run");
  expect_near(alone, idle, "loss", 1e-5);
  expect_near(alone, idle, "grad_norm", 1e-4);
}

// The sums of three ranks are added in rank order, whoever comes first.
TEST(Ranks, give_equal_bits_again_and_again) {
  Experiment const experiment("ranks_again", 3, {"batch.sequences=6", "batch.micro=1"});
  auto const first = experiment.run("first", {"plan.activations=keep"});
  auto const second = experiment.run("second", {"plan.activations=nvme", "debug.poison=true"});
  expect_equal_steps(first, second);
  expect_equal_state(first, second);
}

}  // namespace
}  // namespace spillway::test
