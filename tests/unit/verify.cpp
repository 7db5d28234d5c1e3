// `verify` against an oracle that runs Programs in every order that lanes and waits allow.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/passes.hpp"
#include "plan/solve.hpp"
#include "support/gpt_graph.hpp"
#include "support/interleave.hpp"
#include "support/random_program.hpp"

namespace spillway::test {
namespace {

constexpr int kSteps = 4;  // more than any wait reaches back

// The oracle's word: held runs decide, random ones look for what they might have missed.
std::optional<Failure> find_failure(Program const& program, Random& random) {
  Interleaver interleaver(program, kSteps);
  for (int i = 0; i < 20; ++i) {
    if (auto const failure = interleaver.run_random(random)) return failure;
  }
  return interleaver.run_held();
}

TEST(Verify, AcceptsOnlyProgramsThatNoInterleavingBreaks) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    Program const program = random_program(random);
    auto const violation = verify(program);
    ASSERT_FALSE(violation) << "program " << i << ": " << violation->why;
    auto const failure = find_failure(program, random);
    ASSERT_FALSE(failure) << "program " << i << ": " << failure->why;
  }
}

using Damage = bool (*)(Program&, Random&);

// Damages many Programs; verify and the oracle must agree on each, and where verify names a pair,
// delaying one of the two must bring the failure out. Returns how many were unsound.
int check_damaged(Damage damage, unsigned seed, int cases) {
  Random random(seed);
  int unsound = 0;
  for (int i = 0; i < cases; ++i) {
    Program program = random_program(random);
    if (!damage(program, random)) continue;
    auto const violation = verify(program);
    auto const failure = find_failure(program, random);
    EXPECT_EQ(violation.has_value(), failure.has_value())
        << "case " << i << ": verify says " << (violation ? violation->why : "sound")
        << "; the oracle " << (failure ? failure->why : "finds nothing");
    if (::testing::Test::HasFailure()) return unsound;
    if (!violation) continue;
    ++unsound;
    EXPECT_GE(violation->later, 0);
    if (violation->earlier < 0) continue;
    Interleaver interleaver(program, kSteps);
    EXPECT_TRUE(interleaver.run_held(violation->earlier) || interleaver.run_held(violation->later))
        << violation->why;
  }
  return unsound;
}

TEST(Verify, FindsARemovedWaitExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(remove_wait, 2, 500), 300);
}

TEST(Verify, FindsOverlappingLifetimesExactlyWhereTheyMatter) {
  EXPECT_GT(check_damaged(move_buffer, 3, 800), 200);
}

TEST(Verify, FindsAnItemMovedBeforeWhatItNeedsExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(move_item_forward, 4, 1000), 200);
}

TEST(Verify, FindsALaneThatChangedExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(change_lane, 5, 500), 100);
}

// GPT-2 with spilled activations.
struct Spilling {
  Program program;

  Spilling() {
    Graph const graph = gpt_training_graph({.layers = 4});
    auto const plan = make_plan(graph, {.activations = {"nvme"}}, BlockPolicy::keep);
    program = compile(graph, nullptr, plan, 2, 1).train;
  }
};

TEST(Verify, NamesTheReloadThatAUseNoLongerWaitsFor) {
  Spilling spilling;
  auto& items = spilling.program.items;
  auto const is_reload = [&](ItemNumber wait) {
    return items[static_cast<std::size_t>(wait)].lane == Lane::nvme_read;
  };
  auto const use = std::find_if(items.begin(), items.end(), [&](Item const& item) {
    return std::any_of(item.waits.begin(), item.waits.end(), is_reload);
  });
  ASSERT_NE(use, items.end());
  auto const reload = *std::find_if(use->waits.begin(), use->waits.end(), is_reload);
  std::erase(use->waits, reload);
  auto const violation = verify(spilling.program);
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->later, use->number) << violation->why;
  EXPECT_EQ(violation->earlier, reload) << violation->why;
  for (ItemNumber const item : {reload, use->number}) {
    EXPECT_NE(violation->why.find(describe(spilling.program, item)), std::string::npos);
  }
}

TEST(Verify, RefusesShapesThatCannotBeWalked) {
  auto const refused = [](auto damage) {
    Spilling spilling;
    damage(spilling.program);
    return verify(spilling.program).has_value();
  };
  EXPECT_TRUE(refused([](Program& p) { p.buffers[3].offset = p.peak_bytes[0]; }));
  EXPECT_TRUE(refused([](Program& p) { p.buffers[3].offset = -4096; }));
  EXPECT_TRUE(refused([](Program& p) { p.items[5].operands.pop_back(); }));
  EXPECT_TRUE(refused([](Program& p) { p.items[5].waits = {1 << 20}; }));
  EXPECT_TRUE(refused([](Program& p) { p.items[5].reads.front().last += 1 << 30; }));
  EXPECT_TRUE(refused([](Program& p) { std::swap(p.items[5], p.items[6]); }));
  EXPECT_TRUE(refused([](Program& p) { p.segments.pop_back(); }));
}

}  // namespace
}  // namespace spillway::test
