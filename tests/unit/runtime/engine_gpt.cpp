// The engine on a real Program with the real kernels: no Plan changes a bit, and what was planned
// is what is measured.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "base/bf16.hpp"
#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "io/spill/spill_file.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/workspaces.hpp"
#include "plan/search/solve.hpp"
#include "runtime/engine.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/pattern_batches.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::engine_gpt_test {
namespace {

using namespace test;

constexpr std::int64_t kMicroBatches = 3;
constexpr int kSteps = 3;

CommitDecision decide(CommitSums const& sums) {
  CommitDecision decision;
  auto const count = static_cast<double>(sums.step + 1);
  decision.grad_norm = std::sqrt(sums.norm_squared) / sums.weight_sum;
  decision.control[control_gradient_scale] =
      std::min(1.0, 1 / decision.grad_norm) / sums.weight_sum;
  decision.control[control_learning_rate] = 3e-3;
  decision.control[control_bias1] = 1 - std::pow(0.9, count);
  decision.control[control_bias2] = 1 - std::pow(0.95, count);
  return decision;
}

// Gains one, other parameters small and of equal bits in every run; moments and remainders stay 0.
void initialise(Program const& program, Tiers const& tiers) {
  for (auto const& chunk : program.chunks) {
    auto const bytes = host_bytes(tiers, *find_buffer(program, chunk.parameter), 0);
    auto const& dtype = program.tensors[static_cast<std::size_t>(chunk.parameter)].dtype;
    std::minstd_rand random(static_cast<unsigned>(chunk.id + 1));
    for (auto const& parameter : chunk.parameters) {
      for (std::int64_t i = 0; i < element_count(parameter.view.shape); ++i) {
        auto const draw = static_cast<float>(random()) / 2147483648.0f - 0.5f;
        auto const value = parameter.init.kind == Init::Kind::ones ? 1.0f : 0.1f * draw;
        // Exact in bf16, whose upper half of an fp32 lies last.
        auto const rounded = to_float(to_bf16(value));
        auto const size = static_cast<std::size_t>(size_bytes(dtype));
        auto const from = reinterpret_cast<std::byte const*>(&rounded) + sizeof rounded - size;
        std::memcpy(bytes.data() + static_cast<std::size_t>(parameter.view.offset + i) * size, from,
                    size);
      }
    }
  }
}

// Per step, the bits of loss and norm; then what was learned, as one sum of words.
using Story = std::vector<std::uint64_t>;

Story train(Graph const& graph, BlockPolicy policy, std::vector<std::string> const& update) {
  auto const plan = make_plan(graph, PlanWords{.activations = {"auto"}, .update = update}, policy);
  auto const compiled = compile(graph, nullptr, plan, kMicroBatches, 1);
  auto const& program = compiled.train;
  auto const& peak = program.peak_bytes;
  EXPECT_EQ(peak[2] > 0, policy == BlockPolicy::nvme);
  SpillFile spill(::testing::TempDir(), peak[2], {});
  Tiers tiers(host_device(), peak, &spill);
  initialise(program, tiers);
  auto const comm = make_single_rank_comm();
  PatternBatches batches(graph);
  Engine engine({program, tiers, host::kernels(), *comm, batches, decide, nullptr},
                {.poison = true, .locked_allocator = true});
  Story story;
  double first = 0, last = 0;
  for (int step = 0; step < kSteps; ++step) {
    auto const result = engine.run_step(step);
    last = result.loss_sum / result.weight_sum;
    if (step == 0) first = last;
    story.push_back(std::bit_cast<std::uint64_t>(result.loss_sum));
    story.push_back(std::bit_cast<std::uint64_t>(result.grad_norm));
  }
  engine.finish();
  EXPECT_LT(last, first);
  std::uint64_t sum = 0;
  for (auto const& chunk : program.chunks) {
    for (auto const byte : engine.bytes(chunk.parameter)) {
      sum = 31 * sum + static_cast<std::uint64_t>(byte);
    }
  }
  story.push_back(sum);
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    EXPECT_EQ(tiers.in_use[tier].value(), peak[tier]) << "tier " << tier;
  }
  return story;
}

class EngineGpt : public ::testing::TestWithParam<Precision> {
 protected:
  static Graph graph() {
    auto config = tiny_config();
    config.model.layers = 3;
    config.model.hidden = 64;  // rows that are worth a page: smaller tensors are never spilled
    config.data.sequence = 32;
    config.precision = GetParam();
    config.model.dropout = 0.1;
    auto graph = tiny_training_graph(config);
    graph.arithmetic.threads = host::make_exec(nullptr)->concurrency();
    size_workspaces(graph, [](Graph const& g, Op const& op) {
      return workspace_bytes({g.tensors, g.chunks, g.arithmetic}, op);
    });
    return graph;
  }
};

TEST_P(EngineGpt, every_plan_trains_to_the_same_bits) {
  auto const g = graph();
  auto const keep = train(g, BlockPolicy::keep, {"device"});
  EXPECT_EQ(train(g, BlockPolicy::keep, {"device"}), keep) << "run again";
  EXPECT_EQ(train(g, BlockPolicy::recompute, {"device"}), keep) << "recompute";
  EXPECT_EQ(train(g, BlockPolicy::nvme, {"device"}), keep) << "nvme";
  EXPECT_EQ(train(g, BlockPolicy::nvme, {"host", "device"}), keep) << "update on the host lane";
}

INSTANTIATE_TEST_SUITE_P(Precisions, EngineGpt, ::testing::Values(Precision::fp32, Precision::bf16),
                         [](auto const& info) {
                           return info.param == Precision::fp32 ? "fp32" : "bf16";
                         });

}  // namespace
}  // namespace spillway::engine_gpt_test
