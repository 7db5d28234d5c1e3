// What lies on the drive goes to host memory where that makes no step longer.
#include "plan/search/off_drive.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::off_drive_test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 40, kMicroBatches = 2;

class OffDriveTest : public testing::Test {
 protected:
  // Tries a plan that has all on the drive, and then with less there, and returns the best. The
  // host has room for so many bytes beside what that plan needs there.
  Plan best(PlanWords const& request, std::int64_t room_bytes) {
    auto const open = open_plan(m_graph, request, false);
    Candidate candidate;
    candidate.plan = make_plan(m_graph, kOnDrive, BlockPolicy::keep);
    candidate.plan.unified = false;
    candidate.plan.staging_piece_bytes = 1 << 20;  // less than state takes
    m_host_bytes = compile_without_waits(m_graph, nullptr, candidate.plan, kMicroBatches, 1)
                       .train.peak_bytes[Tier::host];
    PlanQuestion const question{
        m_graph,   nullptr,       request, {kPlenty, m_host_bytes + room_bytes, kPlenty},
        m_machine, kMicroBatches, 1};
    auto const model = block_model(m_graph, m_machine, policies_within(open, question.budgets), 1,
                                   {sharers_of(open.plan, 1)});
    Estimator const estimator(model, m_machine, kMicroBatches);
    candidate.peaks = estimator.peaks(candidate.plan);
    take_time(candidate, estimator);
    Trials trials(question);
    EXPECT_EQ(try_off_drive(question, open, estimator, trials), 0) << "without a plan";
    EXPECT_TRUE(trials.try_out(candidate).fits);
    EXPECT_GT(try_off_drive(question, open, estimator, trials), 0);
    EXPECT_LE(trials.peaks_of_best()[Tier::host], question.budgets.host_bytes);
    return trials.best();
  }
  static std::ptrdiff_t on_drive(Plan const& plan, Tier ChunkPlan::*place) {
    return std::ranges::count(plan.chunks, Tier::nvme, place);
  }
  static std::ptrdiff_t spilled(Plan const& plan) {
    return std::ranges::count(plan.blocks, Tier::nvme,
                              [](BlockPlan const& block) { return away_tier(block.policy); });
  }

  inline static PlanWords const kOnDrive{.activations = {"nvme"},
                                         .parameters = {"nvme"},
                                         .gradients = {"nvme"},
                                         .optimizer = {"nvme"},
                                         .update = {"host"}};
  Graph m_graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  Machine m_machine = small_machine_with_drive(1);
  std::int64_t m_host_bytes = 0;  // what the plan with all on the drive needs of the host
};

TEST_F(OffDriveTest, all_leaves_the_drive_where_the_host_has_room) {
  auto const plan = best({}, kPlenty);
  EXPECT_EQ(spilled(plan), 0);
  for (auto const place : {&ChunkPlan::parameters, &ChunkPlan::gradients, &ChunkPlan::optimizer})
    EXPECT_EQ(on_drive(plan, place), 0);
}

TEST_F(OffDriveTest, what_the_user_has_put_there_stays) {
  auto const plan = best({.activations = {"nvme"}, .optimizer = {"nvme"}}, kPlenty);
  EXPECT_GT(spilled(plan), 0);
  EXPECT_EQ(on_drive(plan, &ChunkPlan::optimizer), std::ssize(plan.chunks));
  EXPECT_EQ(on_drive(plan, &ChunkPlan::parameters), 0);
}

TEST_F(OffDriveTest, as_much_leaves_it_as_has_room) {
  auto const all = compile_without_waits(m_graph, nullptr, best({}, kPlenty), kMicroBatches, 1)
                       .train.peak_bytes[Tier::host];
  auto const plan = best({}, (all - m_host_bytes) / 2);
  auto const left = on_drive(plan, &ChunkPlan::optimizer) + on_drive(plan, &ChunkPlan::parameters);
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 2 * std::ssize(plan.chunks));
}

}  // namespace
}  // namespace spillway::test::off_drive_test
