// Estimates by blocks against what the compiled Program needs and takes.
#include "plan/search/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plan/data/machine_file.hpp"
#include "plan/proof/derive.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::estimate_test {
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
  result.compute_cores = 1;  // the thread that launches
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
  auto model = block_model(graph, machine, all_policies(), ranks);
  Estimator const estimator(model, machine, micro_batches);
  auto const program = compile(graph, nullptr, plan, micro_batches, ranks).train;
  auto const exact_s = simulate(program, machine).step_s;
  EXPECT_NEAR(estimator.step_s(plan) / exact_s, 1, within.time);
  EXPECT_LE(estimator.sums(plan).bound_s(), 1.001 * exact_s);
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

TEST_P(Estimates, of_activations_are_near) {
  for (auto const& shape : {GptShape{.layers = 12, .hidden = 768, .heads = 12, .sequence = 1024},
                            GptShape{.layers = 6, .hidden = 256, .heads = 4, .sequence = 256}}) {
    auto const graph = gpt_training_graph(shape);
    for (auto const policy : all_policies()) {
      SCOPED_TRACE(name(policy));
      PlanWords const request{.activations = {std::string(name(policy))}};
      expect_near(graph, make_plan(graph, request, BlockPolicy::keep), GetParam(),
                  {0.03, 0.03, 0.01});
    }
    PlanWords const mixed{.activations = {"nvme", "recompute", "nvme:0.5", "light", "keep"}};
    expect_near(graph, make_plan(graph, mixed, BlockPolicy::keep), GetParam(), {0.03, 0.03, 0.01});
  }
}

TEST_P(Estimates, of_state_that_comes_and_goes_are_near) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  PlanWords const requests[] = {
      {.activations = {"keep"}, .optimizer = {"nvme"}},
      {.activations = {"keep"}, .optimizer = {"nvme"}, .norm_is_awaited = false},
      {.activations = {"light+nvme"}, .parameters = {"nvme"}, .optimizer = {"nvme"}},
      {.activations = {"light"},
       .parameters = {"device", "device", "device", "nvme"},
       .optimizer = {"nvme"},
       .prefetch = 4},
      {.activations = {"keep"}, .gradients = {"nvme"}, .optimizer = {"nvme"}},
      {.activations = {"recompute"},
       .parameters = {"host"},
       .gradients = {"host"},
       .optimizer = {"host"}}};
  for (auto const& request : requests)
    expect_near(graph, make_plan(graph, request, BlockPolicy::keep), GetParam(),
                {0.03, 0.07, 0.01});
  // Slots of whole chunks are large, and layout finds room for some of them where others were.
  auto whole = graph;
  for (Op& op : whole.ops) op.whole_chunk = op.phase == Phase::update && op.chunk % 3 == 1;
  for (auto const& request : requests)
    expect_near(whole, make_plan(whole, request, BlockPolicy::keep), GetParam(),
                {0.03, 0.12, 0.01});
  for (Op& op : whole.ops)
    if (op.phase == Phase::update) op.workspace_bytes = std::int64_t{256} << 20;
  for (auto const& request : requests)
    expect_near(whole, make_plan(whole, request, BlockPolicy::keep), GetParam(),
                {0.03, 0.12, 0.01});
}

TEST_P(Estimates, of_shared_state_are_near) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  std::vector<std::string> const mixed = {"gradients", "all", "none", "all"};
  PlanWords const requests[] = {
      {.activations = {"light"}, .shard = {"gradients"}},
      {.activations = {"light"}, .shard = {"all"}},
      {.activations = {"recompute"}, .optimizer = {"nvme"}, .shard = {"all"}},
      {.activations = {"light"}, .parameters = {"host"}, .optimizer = {"host"}, .shard = mixed}};
  for (auto const& request : requests) {
    SCOPED_TRACE(request.activations[0] + " " + request.optimizer[0] + " " + request.shard[0]);
    for (int const ranks : {2, 5}) {
      SCOPED_TRACE(ranks);
      auto plan = make_plan(graph, request, BlockPolicy::keep);
      double const device = request.activations[0] == "light" ? 0.07 : 0.25;
      expect_near(graph, plan, GetParam(), {0.06, device, 0.03}, with_device(), ranks);
      plan.unified = false;
      expect_near(graph, plan, GetParam(), {0.10, device, 0.13}, with_device(), ranks);
    }
  }
}

TEST_P(Estimates, of_two_memories_are_near) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  PlanWords const requests[] = {
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
      expect_near(graph, plan, GetParam(), {0.12, 0.07, 0.17}, with_device(), ranks);
    }
  }
}

// Ranks that share nothing out are left out: what they exchange beside a device is counted too
// long.
TEST_P(Estimates, of_sums_on_the_drive_are_near) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  for (char const* const update : {"device", "host"}) {
    PlanWords const words{.activations = {"light"},
                          .gradients = {"nvme"},
                          .optimizer = {"nvme"},
                          .update = {update},
                          .shard = {"gradients"}};
    auto plan = make_plan(graph, words, BlockPolicy::keep);
    plan.unified = false;
    for (int const ranks : {1, 2}) {
      SCOPED_TRACE(testing::Message() << "update on " << update << ", " << ranks << " ranks");
      expect_near(graph, plan, GetParam(), {0.09, 0.05, 0.1}, with_device(), ranks);
    }
  }
}

// They decide among plans that are alike, and what a drive's endurance allows.
TEST_P(Estimates, of_bytes_that_move_are_near) {
  auto const graph = gpt_training_graph({.sequence = 1024});
  for (bool const unified : {true, false}) {
    auto const machine = unified ? cpu() : with_device();
    PlanWords const words{.activations = {"nvme", "light+host", "recompute", "host:0.5"},
                          .parameters = {"nvme", "device", "host"},
                          .gradients = {"host", "device", "nvme"},
                          .optimizer = {"host", "nvme"},
                          .update = {"host", "device"}};
    auto plan = make_plan(graph, words, BlockPolicy::keep);
    plan.unified = unified;
    auto program = compile_without_waits(graph, nullptr, plan, GetParam(), 1).train;
    derive_waits(program);
    auto const simulated = simulate(program, machine).bytes;
    auto const model = block_model(graph, machine, all_policies());
    auto const moved = Estimator(model, machine, GetParam()).sums(plan).moved_bytes;
    for (Lane const lane : {Lane::h2d, Lane::d2h, Lane::nvme_read, Lane::nvme_write}) {
      auto const exact = static_cast<double>(simulated[index(lane)]);
      ASSERT_GT(exact, 0) << name(lane);
      EXPECT_NEAR(static_cast<double>(moved[index(lane)]) / exact, 1, 0.01)
          << name(lane) << ", unified " << unified;
    }
  }
}

// Estimated over simulated seconds of one Plan.
double ratio(Graph const& graph, Plan const& plan, Machine const& machine, int ranks) {
  auto model = block_model(graph, machine, all_policies(), ranks);
  auto program = compile_without_waits(graph, nullptr, plan, 1, ranks).train;
  derive_waits(program);
  return Estimator(model, machine, 1).step_s(plan) / simulate(program, machine).step_s;
}

// 10B parameters on RTX 3090s, up to four a node.
TEST(EstimatesOfRanks, are_as_near_as_those_of_one) {
  auto const graph =
      gpt_training_graph({.layers = 48, .hidden = 4096, .heads = 32, .sequence = 1024, .micro = 8});
  auto const node = load_machine(SPILLWAY_SOURCE_DIR "/input/machines/rtx3090.yaml");
  for (std::string const gradients : {"device", "host"}) {
    for (bool const norm_is_awaited : {false, true}) {
      PlanWords const words{.activations = {"light+host"},
                            .gradients = {gradients},
                            .optimizer = {"host"},
                            .update = {gradients},
                            .norm_is_awaited = norm_is_awaited};
      auto plan = make_plan(graph, words, BlockPolicy::keep);
      plan.unified = false;
      for (int const ranks : {1, 2, 3, 4, 8}) {
        auto const machine = shared_by(node, std::min(ranks, 4));
        EXPECT_NEAR(ratio(graph, plan, machine, ranks), 1, 0.05)
            << "gradients " << gradients << ", norm awaited " << norm_is_awaited << ", " << ranks
            << " ranks";
      }
    }
  }
}

// Anything anywhere. Returns the mean of how far off its steps are, of `plans` plans.
double mean_error(Graph const& graph, Machine const& machine, bool norm_is_awaited, int plans) {
  std::mt19937 random(7);
  auto const pick = [&](auto const& words) { return words[random() % std::size(words)]; };
  bool const unified = machine.is_unified();
  std::string const away = unified ? "nvme" : "host";
  std::vector<std::string> const policies = {"keep", "light",       "recompute",
                                             away,   away + ":0.5", "light+" + away};
  auto const places = [&](auto place) {
    std::vector<std::string> result;
    for (std::size_t c = 0; c < graph.chunks.size(); ++c) result.push_back(place());
    return result;
  };
  auto const model = block_model(graph, machine, all_policies());
  Estimator const estimator(model, machine, 1);
  double sum = 0;
  for (int i = 0; i < plans; ++i) {
    PlanWords request{.norm_is_awaited = norm_is_awaited};
    request.activations.clear();
    for (Block const& block : graph.blocks)
      if (block.layer) request.activations.push_back(pick(policies));
    auto const count = random() % (graph.chunks.size() + 1);
    std::size_t chunk = 0;
    request.optimizer = places([&] { return ++chunk > count ? away : "device"; });
    if (!unified) request.gradients = request.optimizer;
    if (count == 0) request.parameters = {pick(std::vector<std::string>{"device", away})};
    request.prefetch = 1 << random() % 3;
    auto plan = make_plan(graph, request, BlockPolicy::keep);
    plan.unified = unified;
    auto program = compile_without_waits(graph, nullptr, plan, 1, 1).train;
    derive_waits(program);
    sum += std::abs(estimator.step_s(plan) / simulate(program, machine).step_s - 1);
  }
  return sum / plans;
}

TEST(EstimatesOfRandomPlans, are_near_in_the_mean) {
  auto const graph = gpt_training_graph({.layers = 8, .hidden = 512, .heads = 8, .sequence = 512});
  auto slow_drive = cpu(), slow_link = with_device();
  slow_drive.nvme_read_gbps = slow_drive.nvme_write_gbps = slow_drive.nvme_both_gbps = 0.5;
  slow_link.h2d_gbps = slow_link.d2h_gbps = 1;
  for (bool const norm_is_awaited : {true, false}) {
    SCOPED_TRACE(norm_is_awaited);
    EXPECT_LE(mean_error(graph, slow_drive, norm_is_awaited, 40), 0.05);
    // Where updates begin beside the backward pass, what waits for a slow link is estimated worst.
    EXPECT_LE(mean_error(graph, slow_link, norm_is_awaited, 40), norm_is_awaited ? 0.08 : 0.11);
  }
}

// Micro-batches that walk together have more activations, and fetch parameters less often. Where
// the norm is not awaited, too many gradients and slots of updates are counted, also for groups
// of 1, and most where gradients are on the drive, and waits for their bytes are told that a layout
// avoids.
TEST(EstimatesOfGroups, are_near) {
  auto const graph = gpt_training_graph({.layers = 8, .hidden = 512, .heads = 8, .sequence = 256});
  auto slow_drive = cpu();
  slow_drive.nvme_read_gbps = slow_drive.nvme_write_gbps = slow_drive.nvme_both_gbps = 0.5;
  for (auto const* const activations : {"keep", "light", "recompute", "nvme", "sums on nvme"}) {
    for (bool const norm_is_awaited : {true, false}) {
      bool const is_of_sums = activations == std::string("sums on nvme");
      PlanWords const request{.activations = {is_of_sums ? "keep" : activations},
                              .parameters = {"nvme"},
                              .gradients = {is_of_sums ? "nvme" : "device"},
                              .optimizer = {"nvme"},
                              .norm_is_awaited = norm_is_awaited};
      auto plan = make_plan(graph, request, BlockPolicy::keep);
      for (int const micro_batches : {2, 5}) {
        for (int const group : {1, 2, 3, 5}) {
          SCOPED_TRACE(testing::Message() << activations << ", norm awaited " << norm_is_awaited
                                          << ", " << micro_batches << " in groups of " << group);
          plan.group = group;
          double const time = norm_is_awaited ? 0.09 : 0.12;
          Tolerance const within = {time, norm_is_awaited ? 0.11 : 0.16, 0.01},
                          of_sums = {time, norm_is_awaited ? 0.11 : 0.25, 0.03};
          expect_near(graph, plan, micro_batches, is_of_sums ? of_sums : within, slow_drive);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(With, Estimates, ::testing::Values(1, 3));

}  // namespace
}  // namespace spillway::test::estimate_test
