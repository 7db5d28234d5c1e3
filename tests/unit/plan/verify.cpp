// `verify` against an oracle that runs Programs in every order that lanes and waits allow.
#include "plan/proof/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/proof/derive.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/interleave.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::verify_test {
namespace {

constexpr int kSteps = 4;  // more than any wait reaches back

// The oracle's word: held runs decide, random ones look for what they might have missed.
std::optional<Failure> find_failure(Program const& program, Random& random) {
  Interleaver const interleaver(program, kSteps);
  for (int i = 0; i < 3; ++i) {
    if (auto const failure = interleaver.run_random(random)) return failure;
  }
  return interleaver.run_held();
}

// Programs of both kinds in turn.
Program draw(Random& random, int i) {
  return i % 2 == 0 ? random_step(random) : random_program(random);
}

TEST(Verify, accepts_only_programs_that_no_interleaving_breaks) {
  Random random(1);
  for (int i = 0; i < 600; ++i) {
    Program const program = draw(random, i);
    auto const violation = verify(program);
    ASSERT_FALSE(violation) << "program " << i << ": " << violation->why;
    auto const failure = find_failure(program, random);
    ASSERT_FALSE(failure) << "program " << i << ": " << failure->why;
  }
}

// Delaying one of the two items that verify names must bring the failure out.
void check_pair(Program const& program, Violation const& violation) {
  if (violation.earlier < 0 || violation.later < 0) return;
  ItemNumber const pair[] = {violation.earlier, violation.later};
  EXPECT_TRUE(Interleaver(program, kSteps).run_held(pair)) << violation.why;
}

// Damages many Programs; verify and the oracle must agree on each. Returns the percentage of those
// damaged that were unsound.
int check_damaged(Damage damage, unsigned seed, int cases) {
  Random random(seed);
  int damaged = 0, unsound = 0;
  for (int i = 0; i < cases; ++i) {
    Program program = draw(random, i);
    if (!damage(program, random)) continue;
    ++damaged;
    auto const violation = verify(program);
    auto const failure = find_failure(program, random);
    EXPECT_EQ(violation.has_value(), failure.has_value())
        << "case " << i << ": verify says " << (violation ? violation->why : "sound")
        << "; the oracle " << (failure ? failure->why : "finds nothing");
    if (::testing::Test::HasFailure()) return unsound;
    if (!violation) continue;
    ++unsound;
    check_pair(program, *violation);
  }
  return damaged == 0 ? 0 : 100 * unsound / damaged;
}

// Waits are the fewest that do, so nearly every one matters; other damage is often harmless, and
// the oracle has something to tell apart.
TEST(Verify, finds_a_removed_wait_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(remove_wait, 2, 500), 60);
}

TEST(Verify, finds_a_wait_for_the_item_before_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(weaken_wait, 12, 500), 30);
}

TEST(Verify, finds_overlapping_lifetimes_exactly_where_they_matter) {
  EXPECT_GT(check_damaged(move_buffer, 3, 800), 30);
}

TEST(Verify, finds_a_shifted_buffer_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(shift_buffer, 13, 800), 30);
}

TEST(Verify, finds_stays_that_end_too_early_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(shorten_stays, 14, 500), 30);
}

TEST(Verify, finds_an_item_moved_before_what_it_needs_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(move_item_forward, 4, 800), 20);
}

TEST(Verify, finds_a_lane_that_changed_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(change_lane, 5, 500), 20);
}

TEST(Verify, finds_a_range_that_changed_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(change_range, 15, 1000), 20);
}

TEST(Verify, finds_a_writer_that_is_not_expected_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(drop_writer, 16, 500), 20);
}

TEST(Verify, finds_a_value_that_may_not_span_segments_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(forget_span, 17, 300), 20);
}

TEST(Verify, finds_a_version_that_is_gone_exactly_where_it_matters) {
  EXPECT_GT(check_damaged(drop_version, 18, 500), 3);
}

// GPT-2 with spilled activations.
struct Spilling {
  Program program;

  Spilling() {
    Graph const graph = gpt_training_graph({.layers = 4});
    auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::keep);
    program = compile(graph, nullptr, plan, 2, 1).train;
  }
};

TEST(Verify, names_the_reload_that_a_use_no_longer_waits_for) {
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

std::string said_of(HandMade& made) {
  link(made.program);
  derive_waits(made.program);
  auto const violation = verify(made.program);
  return violation ? violation->why : "sound";
}

// Two buffers of a cell each; the second lies beside the first or in the same place.
HandMade two_buffers(std::int64_t second_offset) {
  HandMade made;
  made.segment("last");
  for (std::int64_t const offset : {std::int64_t{0}, second_offset}) {
    auto const id = made.buffer(Tier::device, kCellBytes);
    made.program.buffers[static_cast<std::size_t>(id)].offset = offset;
  }
  made.program.peak_bytes[0] = 2 * kCellBytes;
  return made;
}

// What is done with two buffers is sound where they lie apart, and refused where they meet.
void expect_apart(std::function<void(HandMade&)> const& what) {
  for (std::int64_t const offset : {kCellBytes, std::int64_t{0}}) {
    auto made = two_buffers(offset);
    what(made);
    EXPECT_EQ(said_of(made) == "sound", offset > 0);
  }
}

TEST(Verify, refuses_state_that_shares_bytes_with_other_state_though_nobody_writes_it) {
  expect_apart([](HandMade& made) {
    for (Buffer& buffer : made.program.buffers) buffer.persistent = true;
    made.item(Lane::compute, {0, 1}, {});
  });
}

// As if a write-back made good what was lost; in an uncommitted step it does not.
TEST(Verify, refuses_what_overwrites_state_though_it_is_written_again) {
  expect_apart([](HandMade& made) {
    made.program.buffers[0].persistent = true;
    made.item(Lane::compute, {}, {1});
    made.item(Lane::compute, {}, {0});
  });
}

TEST(Verify, refuses_what_overwrites_a_result_that_no_item_reads) {
  expect_apart([](HandMade& made) {
    made.program.buffers[0].spanning = true;
    made.item(Lane::compute, {}, {0});
    made.item(Lane::compute, {}, {1});
  });
}

TEST(Verify, refuses_an_item_that_writes_where_it_reads_another_buffer) {
  expect_apart([](HandMade& made) {
    made.item(Lane::compute, {}, {0});
    made.item(Lane::compute, {0}, {1});
  });
}

TEST(Verify, refuses_shapes_that_cannot_be_walked) {
  auto const expect = [](std::string const& why, auto damage) {
    Spilling spilling;
    damage(spilling.program);
    auto const violation = verify(spilling.program);
    EXPECT_NE(violation.value_or(Violation{}).why.find(why), std::string::npos)
        << why << ": " << violation.value_or(Violation{}).why;
  };
  expect("ends at byte", [](Program& p) { p.buffers[3].offset = p.peak_bytes[0]; });
  expect("ends at byte", [](Program& p) { p.buffers[3].offset = -4096; });
  expect("2 versions 0 bytes apart", [](Program& p) { p.buffers[3].versions = 2; });
  expect("0 versions", [](Program& p) { p.buffers[3].versions = 0; });
  expect("buffer 3 has id 4", [](Program& p) { p.buffers[3].id = 4; });
  expect("its kind does not take", [](Program& p) { p.items[5].operands.pop_back(); });
  expect("works on buffer 1048576", [](Program& p) { p.items[5].operands[0] = 1 << 20; });
  expect("waits for item 1048576", [](Program& p) { p.items[5].waits = {1 << 20}; });
  expect("uses bytes", [](Program& p) { p.items[5].reads.front().last += 1 << 30; });
  expect("uses buffer -1", [](Program& p) { p.items[5].reads.front().buffer = -1; });
  expect("runs op 1048576",
         [](Program& p) { std::ranges::find(p.items, ItemKind::op, &Item::kind)->op = 1 << 20; });
  expect("item 5 says 6", [](Program& p) { std::swap(p.items[5], p.items[6]); });
  expect("are in no segment", [](Program& p) { p.segments.pop_back(); });
  expect("does not begin where", [](Program& p) { p.segments.front().first = 1; });
  expect("cannot reach", [](Program& p) {
    p.peak_bytes[Tier::host] = p.peak_bytes[Tier::device];
    for (Buffer& buffer : p.buffers)
      if (buffer.tier == Tier::device) buffer.tier = Tier::host;
  });
  // What was scheduled for one memory is not for a device with memory of its own.
  expect("cannot reach 'tokens' on the tier device", [](Program& p) { p.unified = false; });
  expect("directly", [](Program& p) {
    p.unified = false;
    std::erase_if(p.items, [](Item const& item) { return item.kind != ItemKind::copy; });
    for (ItemNumber number = 0; Item & item : p.items) item.number = number++;
    p.segments = {{"all", 0, static_cast<ItemNumber>(p.items.size()), 1}};
  });
}

}  // namespace
}  // namespace spillway::test::verify_test
