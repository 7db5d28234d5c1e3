// Estimates by blocks against what the compiled Program needs and takes.
#include "plan/estimate.hpp"

#include <gtest/gtest.h>

#include "plan/solve.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {
namespace {

Machine cpu() {
  return {.matmul_gflops_bf16 = 350,
          .matmul_gflops_f32 = 200,
          .memory_gbps = 20,
          .nvme_write_gbps = 3,
          .nvme_read_gbps = 2,
          .nvme_both_gbps = 3,
          .h2d_gbps = 10,
          .d2h_gbps = 10,
          .cores = 2,
          .compute_cores = 2,
          .nvme_core_s_per_gb = 0.05};
}

std::vector<BlockPolicy> all_policies() {
  std::vector<BlockPolicy> policies;
  for (int p = 0; p < kPolicies; ++p) policies.push_back(static_cast<BlockPolicy>(p));
  return policies;
}

// The same cores beside a device with memory of its own.
Machine with_device() {
  auto result = cpu();
  result.matmul_gflops_bf16 = 5000;
  result.device_bytes = std::int64_t{8} << 30;
  result.memory_gbps = 500;
  result.network_gbps = 5;
  for (auto const* kind : {"host adamw", "host square_norm", "host accumulate", "host tree_sum"})
    result.kind_giga_per_s[kind] = 20;
  return result;
}

struct Tolerance {
  double time, device, away;
};

void expect_near(Graph const& graph, Plan const& plan, int micro_batches, Tolerance const& within,
                 Machine const& machine = cpu(), int ranks = 1) {
  auto model = block_model(graph, machine, all_policies());
  apply(Shard::none, ranks, model);
  Estimator const estimator(model, machine, micro_batches);
  auto const program = compile(graph, nullptr, plan, micro_batches, ranks).train;
  auto const exact_s = simulate(program, machine).step_s;
  EXPECT_NEAR(estimator.step_s(plan) / exact_s, 1, within.time);
  EXPECT_LE(estimator.bound_s(plan), 1.001 * exact_s);
  auto const peaks = estimator.peaks(plan);
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    if (program.peak_bytes[tier] == 0) {
      EXPECT_EQ(peaks[tier], 0);
      continue;
    }
    auto const exact = static_cast<double>(program.peak_bytes[tier]);
    EXPECT_NEAR(static_cast<double>(peaks[tier]) / exact, 1,
                tier == 0 ? within.device : within.away);
  }
}

class Estimates : public ::testing::TestWithParam<int> {};

TEST_P(Estimates, OfActivationsAreNear) {
  for (auto const& shape : {GptShape{.layers = 12, .hidden = 768, .heads = 12, .sequence = 1024},
                            GptShape{.layers = 6, .hidden = 256, .heads = 4, .sequence = 256}}) {
    auto const graph = gpt_training_graph(shape);
    for (auto const policy : all_policies()) {
      SCOPED_TRACE(name(policy));
      PlanRequest const request{.activations = {std::string(name(policy))}};
      expect_near(graph, make_plan(graph, request, BlockPolicy::keep), GetParam(),
                  {0.03, 0.03, 0.01});
    }
    PlanRequest const mixed{.activations = {"nvme", "recompute", "nvme:0.5", "light", "keep"}};
    expect_near(graph, make_plan(graph, mixed, BlockPolicy::keep), GetParam(), {0.03, 0.03, 0.01});
  }
}

TEST_P(Estimates, OfStateThatComesAndGoesAreNear) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  PlanRequest const requests[] = {
      {.activations = {"keep"}, .optimizer = {"nvme"}},
      {.activations = {"keep"}, .optimizer = {"nvme"}, .norm_is_awaited = false},
      {.activations = {"light+nvme"}, .parameters = {"nvme"}, .optimizer = {"nvme"}},
      {.activations = {"light"},
       .parameters = {"device", "device", "device", "nvme"},
       .optimizer = {"nvme"},
       .prefetch = 4},
      {.activations = {"recompute"},
       .parameters = {"host"},
       .gradients = {"host"},
       .optimizer = {"host"}}};
  for (auto const& request : requests)
    expect_near(graph, make_plan(graph, request, BlockPolicy::keep), GetParam(),
                {0.03, 0.07, 0.01});
}

TEST_P(Estimates, OfTwoMemoriesAreNear) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  PlanRequest const requests[] = {
      {.activations = {"light"}, .gradients = {"host"}, .optimizer = {"host"}, .update = {"host"}},
      {.activations = {"light+host"},
       .gradients = {"host"},
       .optimizer = {"host"},
       .update = {"host"},
       .norm_is_awaited = false},
      {.activations = {"light"},
       .parameters = {"host"},
       .gradients = {"host"},
       .optimizer = {"nvme"},
       .update = {"host"}}};
  for (int const ranks : {1, 2}) {
    for (auto const& request : requests) {
      SCOPED_TRACE(ranks);
      auto plan = make_plan(graph, request, BlockPolicy::keep);
      plan.unified = false;
      expect_near(graph, plan, GetParam(), {0.12, 0.07, 0.13}, with_device(), ranks);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(With, Estimates, ::testing::Values(1, 3));

}  // namespace
}  // namespace spillway::test
