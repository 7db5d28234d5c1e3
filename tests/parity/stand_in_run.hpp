// A small run on the stand-in for CUDA's runtime, of a plan that uses all that there is.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "comm/comm.hpp"
#include "plan/data/plan.hpp"
#include "runtime/engine.hpp"
#include "tests/support/cuda/next_run.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {

// Chunks are on all tiers, updates on both lanes, activations on the drive.
inline Plan mixed_plan(Graph const& graph) {
  constexpr std::array tiers = {Tier::nvme, Tier::host, Tier::device};
  Plan plan;
  for (Block const& block : graph.blocks)
    plan.blocks.push_back(block.layer ? BlockPlan{BlockPolicy::nvme} : BlockPlan{});
  for (std::size_t i = 0; i < graph.chunks.size(); ++i) {
    auto const tier = tiers[i % tiers.size()];
    auto const update = i % 2 == 0 ? Tier::device : Tier::host;
    plan.chunks.push_back({tiers[(i + 1) % tiers.size()], Tier::device, tier, update});
  }
  plan.prefetch = 1;
  plan.unified = false;
  plan.staging_piece_bytes = std::int64_t{1} << 20;  // rings are small, as what passes them
  normalise(graph, plan);
  return plan;
}

class StandInRun : public ::testing::Test {
 protected:
  // Two steps on device 1 of 2, which no thread has chosen by chance.
  Story story(cuda::NextRun next) {
    next.settings->devices = 2;
    cuda::ask_of_next_run(next);
    return train(run());
  }
  TinyRun run() {
    return {.graph = graph, .plan = plan, .comm = *comm, .steps = 2, .learns = false};
  }

  std::unique_ptr<Comm> comm = make_single_rank_comm();
  Graph graph = tiny_run_graph(tiny_config());
  Plan plan = mixed_plan(graph);
};

inline std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  auto const* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace spillway::test
