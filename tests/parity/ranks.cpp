// Runs of different numbers of ranks: the same training to summation order.
#include <algorithm>
#include <cmath>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::ranks_test {
namespace {

constexpr std::int64_t kSequence = 64;

TEST(Ranks, share_a_batch_without_changing_the_training) {
  Keys const keys = {"precision=fp32", "batch.sequences=6", "batch.micro=1"};
  auto const one = Experiment("ranks_1", 1, keys).run("run");
  for (int const ranks : {2, 3}) {
    auto const several = Experiment("ranks_" + std::to_string(ranks), ranks, keys).run("run");
    expect_near(one, several, "loss", 1e-5);
    expect_near(one, several, "grad_norm", 1e-4);
    expect_near(one, several, "tokens", 0);
    EXPECT_NEAR(one.number(5, "valid_loss"), several.number(5, "valid_loss"), 1e-4);
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
    EXPECT_EQ(uneven.number(i, "tokens"), static_cast<double>(5 * kSequence * (i + 1)));
    EXPECT_TRUE(std::isfinite(uneven.number(i, "grad_norm")));
  }
  EXPECT_NEAR(uneven.number(0, "loss"), whole.number(0, "loss"), 1e-6);
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

// Sequences of documents have unlike weights, and 46 of them in micro-batches of four leave ranks
// unlike shares. Where nothing is learned, an evaluation is the loss of training on the same ones.
TEST(Evaluations, are_the_training_loss_of_the_same_sequences) {
  Keys const keys = {"precision=fp32", "data.pack=true",    "batch.sequences=46",
                     "batch.micro=4",  "optim.lr=0",        "optim.min_lr=0",
                     "run.steps=1",    "run.eval.batches=1"};
  for (int const ranks : {1, 2, 3}) {
    Experiment const experiment("evaluations_" + std::to_string(ranks), ranks, keys);
    auto const train = experiment.directory() / "as_valid.h5";
    write_token_file(train, kValidTokens + 1, kDocumentTokens);  // the last one fills no window
    auto const run = experiment.run("run", {"data.train=" + train.string()});
    ASSERT_EQ(run.rows.size(), 1u);
    EXPECT_NEAR(run.number(0, "valid_loss"), run.number(0, "loss"), 1e-6) << ranks << " ranks";
  }
}

void expect_equal_losses(Run const& one, Run const& other) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i)
    EXPECT_EQ(one.rows[i].at("loss_hex"), other.rows[i].at("loss_hex")) << "step " << i + 1;
}

// Three ranks with a micro-batch each add gradients and losses in rank order, as one rank adds its
// three micro-batches: any other order of three shows. Not so where a parameter has several uses,
// and not in norms, which are sums over ranks' slices.
TEST(Ranks, add_in_their_order_as_one_rank_adds_micro_batches) {
  for (std::string const precision : {"fp32", "bf16"}) {
    Keys const keys = {"precision=" + precision, "batch.sequences=3", "batch.micro=1",
                       "model.tied=false", "optim.clip=0"};
    auto const one = Experiment("order_1_" + precision, 0, keys).run("run");
    Experiment const three("order_3_" + precision, 3, keys);
    for (std::string const fate : {"keep", "nvme"}) {
      auto const run = three.run(fate, {"plan.activations=" + fate, "debug.poison=true"});
      expect_equal_losses(one, run);
      expect_near(one, run, "grad_norm", 1e-12);
      expect_equal_state(one, run);
    }
  }
}

}  // namespace
}  // namespace spillway::test::ranks_test
