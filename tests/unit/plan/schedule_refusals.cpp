// Plans that are refused: what is not offered, and what is not normal.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/plan/schedule_case.hpp"

namespace spillway::test::schedule_refusals_test {
namespace {

using schedule_case::small_gpt;

TEST(Schedule, refuses_what_is_not_offered) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const refused = [&](auto change) {
    Plan plan = good;
    change(plan);
    EXPECT_THROW(schedule(graph, plan, 1, 1), std::invalid_argument);
  };
  refused([](Plan& p) { p.chunks[0].update = Tier::nvme; });
  refused([](Plan& p) { p.chunks.pop_back(); });
}

TEST(Schedule, says_what_is_not_offered) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const said = [&](auto change) {
    Plan plan = good;
    change(plan);
    return test::mistake<std::invalid_argument>([&] { schedule(graph, plan, 1, 1); });
  };
  EXPECT_EQ(said([](Plan&) {}), "");
  EXPECT_EQ(said([](Plan& p) { p.chunks[1].gradients = Tier::nvme; }), "");
  EXPECT_EQ(said([](Plan& p) { p.chunks[1].update = Tier::nvme; }),
            "plan.update: nvme is not offered by this version");
  auto const other = "the plan is for another model: its blocks or chunks do not match";
  EXPECT_EQ(said([](Plan& p) { p.chunks.pop_back(); }), other);
  EXPECT_EQ(said([](Plan& p) { p.blocks.pop_back(); }), other);
  EXPECT_EQ(said([](Plan& p) { p.update_slice = 0; }), "update_slice: less than one element");
  EXPECT_EQ(said([](Plan& p) { p.update_slice = 1; }), "");
  auto const pieces = "staging_piece_bytes: not whole pieces of the spill file";
  for (std::int64_t const bytes : {std::int64_t{0}, kPieceBytes - 1, kPieceBytes + 4096})
    EXPECT_EQ(said([&](Plan& p) { p.staging_piece_bytes = bytes; }), pieces) << bytes;
  EXPECT_EQ(said([](Plan& p) { p.staging_piece_bytes = 3 * kPieceBytes; }), "");
}

// Who asks for a plan gets a normal one; another is our mistake.
TEST(Schedule, refuses_a_plan_that_is_not_normal) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  EXPECT_NO_THROW(schedule(graph, good, 1, 1));
  auto const refused = [&](auto change) {
    Plan plan = good;
    change(plan);
    EXPECT_FALSE(is_normal(graph, plan));
    EXPECT_THROW(schedule(graph, plan, 1, 1), std::logic_error);
    normalise(graph, plan);
    EXPECT_NO_THROW(schedule(graph, plan, 1, 1));
  };
  auto const layer = [&](Plan& p, bool last) -> BlockPlan& {
    std::size_t found = 0;
    for (std::size_t b = p.blocks.size(); b-- > 0;) {
      if (graph.blocks[b].layer && (found == 0 || !last)) found = b;
    }
    return p.blocks[found];
  };
  refused([&](Plan& p) { layer(p, true).policy = BlockPolicy::nvme; });  // its reload is too early
  refused([&](Plan& p) { layer(p, false) = {BlockPolicy::keep, 0.5}; });
  refused([](Plan& p) { p.blocks.back().policy = BlockPolicy::light; });  // no layer
}

}  // namespace
}  // namespace spillway::test::schedule_refusals_test
