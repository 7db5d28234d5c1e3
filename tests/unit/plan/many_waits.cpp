// Stations that wait for more jobs than most do.
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "plan/search/estimate.hpp"
#include "plan/search/sharding.hpp"
#include "plan/search/waits.hpp"

namespace spillway::test::many_waits_test {
namespace {

std::vector<int> listed(Waits const& waits) {
  std::span<int const> const jobs = waits;
  return {jobs.begin(), jobs.end()};
}

TEST(WaitsOfAJob, are_as_many_as_there_are_and_none_is_no_job) {
  for (int const count : {0, 1, 31, 32, 33, 34, 200}) {
    Waits waits = {-1};
    std::vector<int> jobs;
    for (int job = 0; job < count; ++job) {
      waits.push_back(job);
      waits.push_back(-1);
      jobs.push_back(job);
    }
    EXPECT_EQ(listed(waits), jobs);
    auto const copy = waits;
    waits.push_back(count);
    EXPECT_EQ(listed(copy), jobs) << "of a copy";
    jobs.push_back(count);
    EXPECT_EQ(listed(waits), jobs);
    waits.clear();
    EXPECT_EQ(listed(waits), std::vector<int>{});
    waits.push_back(7);
    EXPECT_EQ(listed(waits), std::vector<int>{7});
  }
}

// A forward pass of 1 s reads all chunks. A backward pass takes 2 s, and the update of a chunk a
// quarter of a second on the host lane.
BlockModel block_of(int chunks) {
  BlockModel model;
  model.blocks.resize(1);
  auto& block = model.blocks[0];
  block.forward.seconds = 1;
  block.policies[BlockPolicy::keep].backward.seconds = 2;
  for (int c = 0; c < chunks; ++c) {
    ChunkCost chunk;
    chunk.first_block = chunk.last_block = chunk.own_block = 0;
    chunk.readers = {0};
    chunk.update.host.seconds = 0.25;
    model.chunks.push_back(chunk);
    model.trained.push_back(c);
    block.chunks.push_back(c);
    block.forward_chunks.push_back(c);
  }
  share_out(model, 1);
  return model;
}

// The next step begins when the last chunk is updated, so nothing of a step runs beside another. A
// forward pass that waited for 32 of 40 chunks alone would begin 2 s earlier.
TEST(EstimatesOfABlock, wait_for_the_updates_of_all_its_chunks) {
  Machine const machine;
  for (int const chunks : {1, 32, 33, 40, 200}) {
    auto const model = block_of(chunks);
    Plan plan;
    plan.blocks.resize(1);
    plan.chunks.assign(model.chunks.size(), {.update = Tier::host});
    EXPECT_EQ(Estimator(model, machine, 1).step_s(plan), 1 + 2 + 0.25 * chunks) << chunks;
  }
}

}  // namespace
}  // namespace spillway::test::many_waits_test
