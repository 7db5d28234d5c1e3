// The micro-batch where it is open, and how many rows MLPs take at a time.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "kernels/host/workspaces.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/time/simulate.hpp"
#include "run/faster_mlp.hpp"
#include "run/fastest_micro.hpp"
#include "run/find_target.hpp"
#include "run/plan_run.hpp"

namespace spillway::train_micro_test {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

Config config(std::int64_t sequences) {
  Config result;
  result.model.layers = 6;
  result.model.hidden = 256;
  result.model.heads = 4;
  result.data.sequence = 128;
  result.batch.sequences = sequences;
  result.debug.kernels = KernelSet::portable;
  return result;
}

// A device of its own, its link to the host slower than what it computes from.
Machine machine(double link_gbps) {
  return {.matmul_gflops_bf16 = 10'000,
          .matmul_gflops_f32 = 5'000,
          .memory_gbps = 500,
          .h2d_gbps = link_gbps,
          .d2h_gbps = link_gbps,
          .device_bytes = kPlenty};
}

std::int64_t micro(Budgets const& budgets, double link_gbps, std::int64_t from,
                   std::int64_t sequences = 16) {
  return fastest_micro(config(sequences), 1000, {machine(link_gbps), budgets, {1, from}});
}

TEST(Micro, stays_on_cores_where_everything_fits) {
  auto cores = machine(1);
  cores.device_bytes = 0;
  for (std::int64_t const from : {1, 4, 16})
    EXPECT_EQ(fastest_micro(config(16), 1000, {cores, {kPlenty, 0, 0}, {1, from}}), from);
}

// It adds fewer gradients then.
TEST(Micro, grows_on_a_device_while_steps_get_shorter) {
  for (std::int64_t const from : {1, 4, 16}) EXPECT_EQ(micro({kPlenty, 0, 0}, 1, from), 16);
}

// Each micro-batch brings the parameters anew.
TEST(Micro, grows_where_parameters_come_over_a_slow_link) {
  Budgets const budgets{24 * kMib, kPlenty, 0};
  EXPECT_EQ(micro(budgets, 0.5, 1), 8);
}

// What is made again, or leaves, is less of a smaller one.
TEST(Micro, shrinks_until_something_fits) {
  EXPECT_EQ(micro({90 * kMib, 0, 0}, 1, 16), 2);
  EXPECT_EQ(micro({kMib, 0, 0}, 1, 16), 16) << "where nothing fits";
}

TEST(Micro, is_no_more_than_a_ranks_share) {
  EXPECT_EQ(micro({24 * kMib, kPlenty, 0}, 0.01, 4, 12), 6);  // 8 would leave rows empty
}

// Of 12 ranks with 64 sequences each has 6 at most: 4 at a time would be 8 rows for it, 2 of them
// empty, and 3 at a time or 6 leave no row empty that another size would fill.
TEST(Micro, leaves_no_more_rows_empty_than_it_must) {
  Target target{machine(1), {kPlenty, kPlenty, 0}, {1, 1}};
  target.ranks = 12;
  EXPECT_EQ(fastest_micro(config(64), 1000, target), 6);
}

// With little memory a BERT has 256 to 8 micro-batches a step. Estimates took small ones for fast.
TEST(Micro, is_one_with_which_simulated_steps_are_short) {
  Config user;
  user.model.family = Family::bert;
  user.model.dropout = user.model.attention_dropout = 0.1;
  user.data.sequence = 512;
  user.batch.sequences = 256;
  user.debug.kernels = KernelSet::portable;
  auto const there = machine_of_a_rank(
      load_machine(SPILLWAY_SOURCE_DIR "/input/machines/gh200.yaml"), 1, std::nullopt);
  auto const step_s = [&](std::int64_t micro) {
    Target const target{there, {2048 * kMib, 5120 * kMib, 7168 * kMib}, {1, micro}};
    auto const run = plan_run(user, 30522, target);
    return simulate(run.programs.train, there).step_s;
  };
  Target const open{there, {2048 * kMib, 5120 * kMib, 7168 * kMib}, {1, 8}};
  auto const chosen = fastest_micro(user, 30522, open);
  for (std::int64_t const other : {1, 4, 16, 32, 64})
    EXPECT_LE(step_s(chosen), 1.05 * step_s(other)) << chosen << " instead of " << other;
}

Config of_long_sequences() {
  auto result = config(1);
  result.model.layers = 2;
  result.model.ffn = 4096;
  result.data.sequence = kLongSequence;
  return result;
}

Target target_of_long_sequences(std::int64_t device_bytes) {
  auto const user = of_long_sequences();
  return {machine(1), {device_bytes, kPlenty, 0}, choose(user, nullptr, 1, 1)};
}

TEST(MlpChunk, is_all_rows_where_these_fit) {
  EXPECT_EQ(faster_mlp_chunk(of_long_sequences(), 1000, target_of_long_sequences(kPlenty)), 0);
}

// What lies between the products has 16 times the columns of what lies between layers.
TEST(MlpChunk, is_some_rows_where_only_these_fit) {
  auto user = of_long_sequences();
  auto const target = target_of_long_sequences(256 * kMib);
  EXPECT_EQ(faster_mlp_chunk(user, 1000, target), kMlpRows);
  EXPECT_EQ(plan_run(user, 1000, target).train.arithmetic.mlp_chunk, kMlpRows);
  user.batch.mlp_chunk = 0;
  auto const forced = [&] {
    return Target{machine(1), target.budgets, choose(user, nullptr, 1, 1)};
  };
  EXPECT_THROW(plan_run(user, 1000, forced()), Error);
  user.batch.mlp_chunk = 1000;
  EXPECT_EQ(plan_run(user, 1000, forced()).train.arithmetic.mlp_chunk, 1000);
}

TEST(PlanForAnotherMachine, has_the_workspaces_of_its_target_whatever_this_host_has) {
  auto user = config(4);
  auto there = machine(1);
  there.target = "sm_90";
  for (auto const kernels : {std::optional<KernelSet>{}, std::optional(KernelSet::portable)}) {
    for (std::int64_t const threads : {1, 3}) {
      user.debug.kernels = kernels;
      auto const run = plan_run(user, 1000, {there, {kPlenty, kPlenty, 0}, {threads, 4}});
      EXPECT_EQ(run.train.arithmetic.isa, "sm_90");
      KernelContext const context{run.train.tensors, run.train.chunks, run.train.arithmetic};
      for (Op const& op : run.train.ops)
        EXPECT_EQ(op.workspace_bytes, cuda_workspace_bytes(90, context, op)) << op.name;
    }
  }
}

}  // namespace
}  // namespace spillway::train_micro_test
