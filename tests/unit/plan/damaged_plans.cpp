// Programs that were made of random Plans, damaged in one place: whenever an interleaving goes
// wrong, `verify` must have refused; and where it names a pair, delaying one of the two must go
// wrong. These Programs are too large to try every order, so that `verify` refuses no sound one is
// asserted only where it names a pair; verify.cpp has both directions for small ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/proof/verify.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/interleave.hpp"
#include "tests/support/random_plan.hpp"

namespace spillway::test::damaged_plans_test {
namespace {

constexpr int kSteps = 3;

struct Counts {
  int damaged = 0, unsound = 0, shown = 0;
};

Program compiled(unsigned seed) {
  Random draws(seed);
  auto shape = random_shape(draws);
  shape.layers = 1 + shape.layers % 3;
  Graph const graph = gpt_training_graph(shape);
  auto const plan = random_plan(graph, draws);
  return compile(graph, nullptr, plan, 1 + below(draws, 3), 1 + below(draws, 2)).train;
}

// Items whose delay is likely to show what the damage did: those it concerns, and a sample.
std::vector<ItemNumber> suspects(Program const& sound, Program const& damaged, Random& random) {
  std::vector<ItemNumber> items;
  auto const moved = [&](Access const& access) {
    auto const buffer = static_cast<std::size_t>(access.buffer);
    return sound.buffers[buffer].offset != damaged.buffers[buffer].offset;
  };
  for (Item const& item : damaged.items) {
    auto const& before = sound.items[static_cast<std::size_t>(item.number)];
    if (item.waits != before.waits) {
      items.insert(items.end(), before.waits.begin(), before.waits.end());
      items.push_back(item.number);
    }
    bool const touched =
        std::ranges::any_of(item.reads, moved) || std::ranges::any_of(item.writes, moved);
    if (touched || random() % 16 == 0) items.push_back(item.number);
  }
  return items;
}

void check(Program const& sound, Program const& damaged, Random& random, Counts& counts) {
  auto const violation = verify(damaged);
  Interleaver const interleaver(damaged, kSteps);
  auto failure = interleaver.run_random(random);
  if (!failure) failure = interleaver.run_held(suspects(sound, damaged, random));
  ++counts.damaged;
  counts.unsound += violation.has_value();
  counts.shown += failure.has_value();
  EXPECT_TRUE(violation || !failure) << failure->why;
  if (!violation || failure || violation->earlier < 0) return;
  ItemNumber const pair[] = {violation->earlier, violation->later};
  EXPECT_TRUE(interleaver.run_held(pair)) << violation->why;
}

Counts check_damaged(std::vector<Damage> const& damages) {
  Counts counts;
  for (unsigned seed = 0; seed < 60 && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    Program const sound = compiled(seed);
    for (std::size_t i = 0; i < 4; ++i) {
      Program damaged = sound;
      if (damages[i % damages.size()](damaged, random)) check(sound, damaged, random, counts);
    }
  }
  return counts;
}

TEST(DamagedPlans, without_a_wait_are_refused_whenever_an_order_goes_wrong) {
  auto const counts = check_damaged({remove_wait, weaken_wait});
  EXPECT_GT(counts.shown, counts.damaged / 2);
}

TEST(DamagedPlans, with_buffers_out_of_place_are_refused_whenever_an_order_goes_wrong) {
  auto const counts = check_damaged({move_buffer, shift_buffer});
  EXPECT_GT(counts.shown, counts.damaged / 4);
}

TEST(DamagedPlans, with_items_out_of_place_are_refused_whenever_an_order_goes_wrong) {
  auto const counts = check_damaged({move_item_forward, change_lane});
  EXPECT_GT(counts.shown, counts.damaged / 4);
}

TEST(DamagedPlans, whose_stays_end_too_early_are_refused_whenever_an_order_goes_wrong) {
  auto const counts = check_damaged({shorten_stays, drop_version, drop_writer, forget_span});
  EXPECT_GT(counts.shown, counts.damaged / 4);
}

}  // namespace
}  // namespace spillway::test::damaged_plans_test
