// What the systems that this program unites have published about their choices, on the machines
// they used. ProTrain's updates overlap the backward pass, so nothing is clipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "plan/data/machine_file.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::published_plans_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

struct Case {
  GptShape shape;
  char const* machine;
  std::int64_t host_bytes = 0, nvme_bytes = 0;
  std::int64_t device_bytes = 0;  // 0: the machine's
  std::optional<std::int64_t> host_threads = {};
};

struct Answer {
  Graph graph;
  Solution solution;

  // Percentages of layers, of chunks.
  template <class Is>
  double layers(Is const& is) const {
    double count = 0, all = 0;
    for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
      if (!graph.blocks[b].layer) continue;
      ++all;
      count += is(solution.chosen->plan.blocks[b].policy) ? 1 : 0;
    }
    return 100 * count / all;
  }
  // Returns the percentage of chunks whose optimizer state stays on the device.
  double resident_chunks() const {
    auto const& chunks = solution.chosen->plan.chunks;
    auto const resident = std::ranges::count(chunks, Tier::device, &ChunkPlan::optimizer);
    return 100.0 * static_cast<double>(resident) / static_cast<double>(chunks.size());
  }
};

Answer answer(Case const& c) {
  auto const file = std::string(SPILLWAY_SOURCE_DIR "/input/machines/") + c.machine + ".yaml";
  auto const machine = with_host_threads(shared_by(load_machine(file), 1), c.host_threads);
  Answer result{gpt_training_graph(c.shape), {}};
  Budgets const budgets{c.device_bytes > 0 ? c.device_bytes : machine.device_bytes, c.host_bytes,
                        c.nvme_bytes};
  result.solution =
      solve({result.graph, nullptr, PlanWords{.norm_is_awaited = false}, budgets, machine, 1, 1});
  return result;
}

GptShape gpt(std::int64_t layers, std::int64_t hidden, std::int64_t batch) {
  return {
      .layers = layers, .hidden = hidden, .heads = hidden / 64, .sequence = 1024, .micro = batch};
}

bool makes_again(BlockPolicy policy) {
  return policy == BlockPolicy::recompute;
}

TEST(PublishedPlans, one_billion_on_an_a100_stays_there) {
  auto const got = answer({gpt(24, 1920, 8), "a100-80", 240 * kGib});
  ASSERT_TRUE(got.solution.chosen);
  EXPECT_EQ(got.layers([](BlockPolicy p) { return p == BlockPolicy::keep; }), 100);
  EXPECT_EQ(got.resident_chunks(), 100);
}

TEST(PublishedPlans, ten_billion_on_an_a100_makes_nothing_again_and_keeps_some_chunks) {
  auto const got = answer({gpt(48, 4096, 8), "a100-80", 240 * kGib});
  ASSERT_TRUE(got.solution.chosen);
  EXPECT_EQ(got.layers(makes_again), 0);
  EXPECT_GT(got.resident_chunks(), 0);
  EXPECT_LT(got.resident_chunks(), 100);
}

TEST(PublishedPlans, ten_billion_on_an_rtx3090_keep_little_there) {
  auto const got = answer({gpt(48, 4096, 8), "rtx3090", 384 * kGib});
  ASSERT_TRUE(got.solution.chosen);
  EXPECT_GE(got.layers([](BlockPolicy p) { return p != BlockPolicy::keep; }), 60);
  EXPECT_LT(got.resident_chunks(), 25);
}

// Main memory's bandwidth is no single thread's.
TEST(PublishedPlans, one_thread_updates_ten_billion_on_an_rtx3090_more_slowly_by_another_plan) {
  Case c{gpt(48, 4096, 8), "rtx3090", 384 * kGib};
  auto const all = answer(c);
  c.host_threads = 1;
  auto const one = answer(c);
  ASSERT_TRUE(all.solution.chosen && one.solution.chosen);
  EXPECT_GT(one.solution.chosen->step_s, 1.25 * all.solution.chosen->step_s);
  EXPECT_FALSE(one.solution.chosen->plan == all.solution.chosen->plan) << "another is best";
}

TEST(PublishedPlans, thirty_four_billion_train_on_one_rtx3090_with_its_host) {
  EXPECT_TRUE(answer({gpt(48, 7680, 1), "rtx3090", 384 * kGib}).solution.chosen);
}

TEST(PublishedPlans, gpt3_does_not_unless_there_is_a_drive) {
  auto const shape = gpt(96, 12288, 1);
  EXPECT_FALSE(answer({shape, "rtx3090", 384 * kGib}).solution.chosen);
  EXPECT_TRUE(answer({shape, "rtx3090", 384 * kGib, 4096 * kGib}).solution.chosen);
}

TEST(PublishedPlans, auto_hetes_four_billion_fit_twelve_gigabytes) {
  EXPECT_TRUE(answer({gpt(21, 4096, 8), "a100-80", 440 * kGib, 0, 12 * kGib}).solution.chosen);
}

}  // namespace
}  // namespace spillway::test::published_plans_test
