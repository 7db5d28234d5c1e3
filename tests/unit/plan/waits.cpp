#include <gtest/gtest.h>

#include <algorithm>

#include "plan/data/program.hpp"
#include "plan/proof/clock.hpp"
#include "plan/proof/unroll.hpp"
#include "plan/proof/verify.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::waits_test {
namespace {

using Waits = std::vector<ItemNumber>;

Waits const& waits(Program const& program, ItemNumber item) {
  return program.items[static_cast<std::size_t>(item)].waits;
}

TEST(Waits, are_not_needed_inside_a_serial_lane) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64);
  made.item(Lane::compute, {}, {a});
  auto const reader = made.item(Lane::compute, {a}, {});
  complete(made.program);
  EXPECT_EQ(waits(made.program, reader), Waits{});
}

TEST(Waits, are_needed_inside_a_lane_that_finishes_out_of_order) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64);
  auto const writer = made.item(Lane::host, {}, {a});
  auto const reader = made.item(Lane::host, {a}, {});
  complete(made.program);
  EXPECT_EQ(waits(made.program, reader), Waits{writer});
}

TEST(Waits, name_only_the_last_item_of_a_chain) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64), b = made.buffer(Tier::nvme, 64);
  auto const c = made.buffer(Tier::device, 64);
  auto const make = made.item(Lane::compute, {}, {a});
  auto const spill = made.item(Lane::nvme_write, {a}, {b});
  auto const reload = made.item(Lane::nvme_read, {b}, {c});
  auto const use = made.item(Lane::compute, {c}, {});
  complete(made.program);
  EXPECT_EQ(waits(made.program, spill), Waits{make});
  EXPECT_EQ(waits(made.program, reload), Waits{spill});
  EXPECT_EQ(waits(made.program, use), Waits{reload});
}

TEST(Waits, reach_back_over_the_step_where_bytes_are_used_again) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64);
  auto const load = made.item(Lane::host, {}, {a});
  auto const use = made.item(Lane::compute, {a}, {});
  complete(made.program);
  EXPECT_EQ(waits(made.program, load), Waits{use});  // of the step before
  EXPECT_EQ(waits(made.program, use), Waits{load});
}

// With two versions, step s + 2 must not overwrite what step s reads. A wait can only name step
// s + 1; the first compute item there is the least that covers all of step s.
TEST(Waits, let_two_versions_run_one_step_ahead) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64), b = made.buffer(Tier::device, 64);
  made.program.buffers[0].versions = 2;
  auto const load = made.item(Lane::host, {}, {a});
  auto const first = made.item(Lane::compute, {}, {b});
  made.item(Lane::compute, {a, b}, {});
  complete(made.program);
  EXPECT_EQ(waits(made.program, load), Waits{first});
  EXPECT_FALSE(verify(made.program));
}

TEST(Waits, are_never_implied_by_order_and_other_waits) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    Program const program = i % 2 == 0 ? random_step(random) : random_program(random);
    auto const instances = unroll_for_proof(program);
    for (Item const& item : program.items) {
      for (std::size_t w = 0; w < item.waits.size(); ++w) {
        Program without = program;
        auto& waits = without.items[static_cast<std::size_t>(item.number)].waits;
        waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(w));
        LaneClocks full(program.items.size()), fewer(program.items.size());
        bool differs = false;
        for (Instance const& now : instances) {
          auto const n = static_cast<std::size_t>(now.item);
          auto const a = full.start(program, program.items[n]);
          auto const b = fewer.start(without, without.items[n]);
          differs = differs || a != b;
          full.append(program.items[n], a);
          fewer.append(without.items[n], b);
        }
        ASSERT_TRUE(differs) << "program " << i << ", item " << item.number;
      }
    }
  }
}

}  // namespace
}  // namespace spillway::test::waits_test
