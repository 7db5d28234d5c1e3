// The loss over a validation set whose tokens are spread unevenly over ranks and batches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/on_ranks.hpp"
#include "train/evaluate.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

struct Share {
  double loss_sum = 0, weight_sum = 0;
};

// By rank and batch. Every mean, of a batch or of a rank, is another one, and the last batch is
// empty on all ranks but the first. Sums are exact in any order.
Share share_of(int rank, std::int64_t batch) {
  if (batch == 2) return rank == 0 ? Share{3.5, 1} : Share{};
  double const weight = batch == 0 ? 64 >> (2 * rank) : 5 + rank;
  return {weight * (2.25 + rank + 0.5 * static_cast<double>(batch)), weight};
}

constexpr std::int64_t kBatches = 3;
std::int64_t g_batches_run = 0;

Launch bind_loss(KernelContext const&, Op const&) {
  return [](Exec const&, void* const* operands) {
    auto const share = share_of(g_comm->rank(), g_batches_run++);
    auto* const loss = static_cast<double*>(operands[0]);
    loss[0] = share.loss_sum;
    loss[1] = share.weight_sum;
  };
}
Kernel loss_kernel(OpKind) {
  return {bind_loss, bind_loss};
}

// A Program of one op, which gives the loss.
struct LossAlone : HandMade {
  LossAlone() {
    segment("last");
    auto const loss = buffer(Tier::device, 2 * size_bytes(DType::f64));
    auto& tensor = program.tensors[static_cast<std::size_t>(loss)];
    tensor.persistent = program.buffers[static_cast<std::size_t>(loss)].persistent = true;
    program.known.loss = loss;
    Op op;
    op.id = 0;
    op.outputs = {whole(tensor)};
    program.ops.push_back(op);
    auto& made = program.items[static_cast<std::size_t>(item(Lane::compute, {}, {loss}))];
    made.kind = ItemKind::op;
    made.op = op.id;
    made.operands = {loss};
    link(program);
    Program* programs[] = {&program};
    layout(programs);
    derive_waits(program);
  }
};

LossSums evaluated(std::int64_t batches, EvalTold const& told = {}) {
  LossAlone const made;
  auto tiers = make_tiers(made.program, nullptr);
  NoBatches none;
  Engine engine({made.program, tiers, KernelTable(loss_kernel), *g_comm, none, {}});
  g_batches_run = 0;
  return evaluate(engine, batches, *g_comm, told);
}

// What the mean is not, if `wrong` divides.
void expect_other(double mean, double wrong, char const* what) {
  EXPECT_GT(std::abs(mean - wrong), 1e-2) << what << " would not show";
}

TEST(Evaluation, is_the_mean_over_the_tokens_of_all_ranks) {
  double loss = 0, weight = 0, means = 0, rank_means = 0, own_weight = 0;
  for (int rank = 0; rank < g_comm->size(); ++rank) {
    Share all;
    for (std::int64_t batch = 0; batch < kBatches; ++batch) {
      auto const share = share_of(rank, batch);
      all.loss_sum += share.loss_sum;
      all.weight_sum += share.weight_sum;
      if (share.weight_sum > 0) means += share.loss_sum / share.weight_sum;
    }
    loss += all.loss_sum;
    weight += all.weight_sum;
    rank_means += all.loss_sum / all.weight_sum;
    if (rank == g_comm->rank()) own_weight = all.weight_sum;
  }
  auto const sums = evaluated(kBatches);
  EXPECT_EQ(sums.targets(), std::llround(weight));
  auto const mean = sums.mean().value();
  EXPECT_DOUBLE_EQ(mean, loss / weight);

  auto const ranks = g_comm->size();
  expect_other(mean, means / (2 * ranks + 1), "the mean of batches");
  if (ranks == 1) return;
  expect_other(mean, rank_means / ranks, "the mean of ranks");
  expect_other(mean, loss / own_weight, "this rank's weight");
  expect_other(mean, loss / own_weight / ranks, "this rank's weight times ranks");
}

TEST(Evaluation, tells_of_every_batch_that_it_has_done) {
  std::vector<std::int64_t> done, targets;
  evaluated(kBatches, [&](std::int64_t batches, LossSums const& so_far) {
    done.push_back(batches);
    targets.push_back(so_far.targets());
  });
  std::vector<std::int64_t> numbers, own;
  double weight = 0;
  for (std::int64_t batch = 0; batch < kBatches; ++batch) {
    numbers.push_back(batch + 1);
    own.push_back(std::llround(weight += share_of(g_comm->rank(), batch).weight_sum));
  }
  EXPECT_EQ(done, numbers);
  EXPECT_EQ(targets, own);
}

TEST(Evaluation, has_no_mean_where_nothing_was_predicted) {
  auto const sums = evaluated(0);
  EXPECT_EQ(sums.targets(), 0);
  EXPECT_FALSE(sums.mean());
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
