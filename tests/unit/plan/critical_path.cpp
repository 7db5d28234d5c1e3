// The chain of items that a step's time goes into.
#include "plan/time/critical_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::critical_path_test {
namespace {

// A timeline of which every begin and end is given.
class Timetable {
 public:
  Timetable() { m_made.segment("last"); }

  ItemNumber item(Lane lane, double start_s, double end_s, std::vector<ItemNumber> waits = {}) {
    auto const number = m_made.item(lane, {}, {});
    m_made.program.items.back().waits = std::move(waits);
    m_simulation.intervals.push_back({number, start_s, end_s});
    m_simulation.step_s = std::max(m_simulation.step_s, end_s);
    return number;
  }
  // Leaves out repetitions of what happens in a part of the step, which they make longer.
  void repeat(Simulation::Repeat const& repeat) {
    m_simulation.repeat = repeat;
    m_simulation.step_s += repeat.left_out_s();
  }
  std::vector<PathPart> path() const { return critical_path(m_made.program, m_simulation); }
  std::vector<LaneShare> shares() const { return spillway::shares(m_made.program, path()); }
  std::vector<ItemNumber> items() const {
    std::vector<ItemNumber> result;
    for (auto const& part : path()) result.push_back(part.item);
    return result;
  }

 private:
  HandMade m_made;
  Simulation m_simulation;
};

using Items = std::vector<ItemNumber>;

TEST(CriticalPath, follows_what_ended_last) {
  Timetable table;
  auto const a = table.item(Lane::compute, 0, 1);
  auto const written = table.item(Lane::nvme_write, 1, 4, {a});
  table.item(Lane::compute, 1, 3);  // beside it, and shorter
  auto const read = table.item(Lane::nvme_read, 4, 6, {written});
  auto const last = table.item(Lane::compute, 6, 7, {read});
  EXPECT_EQ(table.items(), (Items{a, written, read, last}));
  auto const lanes = table.shares();
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_EQ(lanes[0].lane, Lane::nvme_write);
  EXPECT_DOUBLE_EQ(lanes[0].seconds, 3);
  EXPECT_DOUBLE_EQ(lanes[1].seconds, 2);  // of the disk's reading, or compute
  EXPECT_DOUBLE_EQ(lanes[2].seconds, 2);
}

TEST(CriticalPath, leaves_out_what_hides_behind_a_lane) {
  Timetable table;
  auto const a = table.item(Lane::compute, 0, 1);
  auto const written = table.item(Lane::nvme_write, 1, 2, {a});
  auto const b = table.item(Lane::compute, 1, 5);
  auto const read = table.item(Lane::nvme_read, 2, 5, {written});  // ends together with b
  auto const last = table.item(Lane::compute, 5, 6, {read});
  EXPECT_EQ(table.items(), (Items{a, b, last}));
}

TEST(CriticalPath, begins_with_the_step_though_its_first_items_began_before) {
  Timetable table;
  table.item(Lane::compute, -3, -1);
  auto const a = table.item(Lane::host, -2, 1);  // under way as the step before ended
  auto const b = table.item(Lane::compute, 1, 3, {a});
  ASSERT_EQ(table.items(), (Items{a, b}));
  EXPECT_DOUBLE_EQ(table.path()[0].start_s, 0);
  EXPECT_DOUBLE_EQ(table.path()[0].end_s, 1);
}

// Each part takes its share of the three seconds from second 5 on ten times more.
TEST(CriticalPath, counts_what_the_simulation_leaves_out_where_it_repeats) {
  Timetable table;
  auto const a = table.item(Lane::compute, 0, 4);
  auto const written = table.item(Lane::nvme_write, 4, 7, {a});
  table.item(Lane::compute, 7, 10, {written});
  table.repeat({5, 3, 10});
  auto const path = table.path();
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[0].repeated_s, 0);
  EXPECT_EQ(path[1].repeated_s, 20);
  EXPECT_EQ(path[2].repeated_s, 10);
  auto const lanes = table.shares();
  ASSERT_EQ(lanes.size(), 2u);
  EXPECT_EQ(lanes[0].lane, Lane::nvme_write);
  EXPECT_EQ(lanes[0].seconds, 23);
  EXPECT_EQ(lanes[1].seconds, 17);
}

// The same item in two segments: what waits for it waits for the latest one.
TEST(CriticalPath, knows_the_instances_of_an_item) {
  HandMade made(3);
  made.segment("middle");
  auto const load = made.item(Lane::h2d, {}, {});
  auto const use = made.item(Lane::compute, {}, {});
  made.program.items[1].waits = {load};
  Simulation simulation;
  simulation.intervals = {{load, 0, 2}, {use, 2, 3}, {load, 2, 7}, {use, 7, 8}};
  simulation.step_s = 8;
  auto const path = critical_path(made.program, simulation);
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[1].item, load);
  EXPECT_DOUBLE_EQ(path[1].start_s, 2);
  EXPECT_EQ(path[2].item, use);
}

TEST(CriticalPath, is_empty_where_nothing_takes_time) {
  Timetable table;
  table.item(Lane::compute, 0, 0);
  EXPECT_TRUE(table.path().empty());
}

Machine machine() {
  auto machine = machine_with_slow_links();
  machine.nvme_core_s_per_gb = 0.05;
  return machine;
}

// Each part begins where the one before ends and when its item does, and all of them are the step.
void expect_whole(Program const& program) {
  auto const simulation = simulate(program, machine());
  auto const path = critical_path(program, simulation);
  double at_s = 0, lanes_s = 0;
  for (auto const& part : path) {
    EXPECT_DOUBLE_EQ(part.start_s, at_s);
    EXPECT_GT(part.end_s, part.start_s);
    bool const is_its_interval =
        std::ranges::any_of(simulation.intervals, [&](auto const& interval) {
          return interval.item == part.item && interval.end_s == part.end_s &&
                 (interval.start_s == part.start_s || part.start_s == 0);
        });
    EXPECT_TRUE(is_its_interval) << describe(program, part.item);
    at_s = part.end_s;
  }
  EXPECT_DOUBLE_EQ(at_s, simulation.step_s);
  for (auto const& lane : shares(program, path)) {
    double kinds_s = 0;
    for (auto const& kind : lane.kinds) kinds_s += kind.seconds;
    EXPECT_NEAR(kinds_s, lane.seconds, 1e-9 * simulation.step_s);
    lanes_s += lane.seconds;
  }
  EXPECT_NEAR(lanes_s, simulation.step_s, 1e-9 * simulation.step_s);
}

TEST(CriticalPath, takes_as_long_as_the_step_whatever_the_plan) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random draws(seed);
    Graph const graph = gpt_training_graph(random_shape(draws));
    auto const plan = random_plan(graph, draws);
    auto const micro_batches = 1 + below(draws, 4), ranks = 1 + below(draws, 3);
    expect_whole(compile(graph, nullptr, plan, micro_batches, ranks).train);
  }
}

}  // namespace
}  // namespace spillway::test::critical_path_test
