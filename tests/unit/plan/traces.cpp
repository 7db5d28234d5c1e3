// What a trace says of steps, predicted and measured.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/compile/compile.hpp"
#include "plan/memory/layout.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/unroll.hpp"
#include "plan/trace/trace.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/trace_rules.hpp"

namespace spillway::test::traces_test {
namespace {

// A GPT that spills, of several micro-batches.
Program spilling(std::int64_t micro_batches, std::int64_t layers = 3) {
  auto const graph = gpt_training_graph(
      {.layers = layers, .hidden = 64, .heads = 2, .vocab = 300, .sequence = 64, .micro = 1});
  auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::nvme);
  return compile(graph, nullptr, plan, micro_batches, 1).train;
}

TraceEvents predicted(Program const& program, Simulation const& simulation) {
  return trace_in(predicted_trace(program, simulation));
}

TraceEvents slices_of(TraceEvents const& events, Program const& program, ItemNumber item,
                      int process = kPredictedProcess) {
  auto result = of_phase(events, "X");
  std::erase_if(result, [&](auto const& slice) {
    return slice.at("pid") != process || slice.at("args").value("item", -1) != item;
  });
  for (auto const& slice : result)
    EXPECT_EQ(slice.at("name"), what(program, program.items[static_cast<std::size_t>(item)]));
  return result;
}

constexpr std::int64_t kGigabyte = 1'000'000'000;

// One GB/s everywhere: a buffer of n GB takes n seconds.
Machine const kUnits = {1, 1, 1, 1, 1, 1, 0};

void finish(Program& program) {
  link(program);
  Program* programs[] = {&program};
  layout(programs);
  derive_waits(program);
}

// Two ops on compute, a spill and its way back.
class Spilled : public testing::Test {
 protected:
  Spilled() {
    m_made.segment("last");
    auto const a = m_made.buffer(Tier::device, kGigabyte),
               away = m_made.buffer(Tier::nvme, kGigabyte);
    auto const b = m_made.buffer(Tier::device, 3 * kGigabyte);
    auto const c = m_made.buffer(Tier::device, kGigabyte);
    m_made.program.buffers[0].spanning = m_made.program.buffers[2].spanning = true;
    m_made.item(Lane::compute, {}, {a});
    m_made.program.items[0].horizon = 4;
    m_made.item(Lane::nvme_write, {a}, {away});
    m_made.item(Lane::compute, {}, {b});
    m_made.item(Lane::nvme_read, {away}, {c});
    m_made.item(Lane::compute, {c}, {});
    finish(m_made.program);
    m_simulation = simulate(m_made.program, kUnits);
  }

  HandMade m_made;
  Simulation m_simulation;
};

TEST_F(Spilled, is_shown_item_by_item_from_when_its_step_begins) {
  auto const events = predicted(m_made.program, m_simulation);
  expect_trace_rules(events);
  EXPECT_EQ(runs_of_items(events, [](auto const&) { return true; }), runs_of_step(m_made.program));
  auto const begin_of = [&](ItemNumber item) {
    return trace_ns(slices_of(events, m_made.program, item).at(0), "ts");
  };
  EXPECT_EQ(begin_of(0), 0);
  EXPECT_EQ(begin_of(1), 1'000'000'000);
  EXPECT_EQ(begin_of(3), 2'000'000'000);
  auto const write = slices_of(events, m_made.program, 1).at(0);
  EXPECT_EQ(write.at("tid"), 500);
  EXPECT_EQ(write.at("args").at("bytes"), 1'000'000'000);
  EXPECT_EQ(write.at("args").at("segment"), "last");
  EXPECT_EQ(write.at("args").at("micro_batch"), 0);
  EXPECT_EQ(end_ns(write), 2'000'000'000 - 1) << "a nanosecond is left between neighbours";
}

// The write has to wait for the first item, and the read for the write; compute waits for nobody.
TEST_F(Spilled, has_an_arrow_to_each_item_that_waited) {
  auto const events = predicted(m_made.program, m_simulation);
  std::set<std::pair<int, int>> to;
  for (auto const& end : of_phase(events, "f")) to.insert(track_of(end));
  EXPECT_EQ(to, (std::set<std::pair<int, int>>{{2, 400}, {2, 500}}));
  EXPECT_EQ(of_phase(events, "s").size(), 2u);
}

TEST_F(Spilled, counts_the_bytes_that_its_plan_has_in_use) {
  auto const events = predicted(m_made.program, m_simulation);
  auto const stays = lifetimes(m_made.program);
  for (Tier const tier : {Tier::device, Tier::nvme}) {
    auto const live = live_bytes(m_made.program, stays, tier);
    EXPECT_EQ(most_of(events, kPredictedProcess, std::string(name(tier)) + " bytes"),
              *std::ranges::max_element(live));
  }
  EXPECT_EQ(most_of(events, kPredictedProcess, "host bytes"), -1) << "there is no such buffer";
}

TEST_F(Spilled, begins_as_no_trace_of_a_run_does) {
  auto const text = predicted_trace(m_made.program, m_simulation);
  EXPECT_TRUE(begins_predicted_trace(text));
  Trace trace(m_made.program, m_simulation, {});
  std::string measured(kTraceBegin);
  trace.add({{1, 0.0, "go"}, 0, predicted_times(m_made.program, m_simulation)},
            [&](std::string const& event) { measured += event; });
  EXPECT_FALSE(begins_predicted_trace(measured));
}

TEST(PredictedTrace, shows_the_step_as_long_as_it_is_simulated) {
  auto const program = spilling(3);
  auto const simulation = simulate(program, small_machine_with_drive(0.1));
  auto const events = predicted(program, simulation);
  expect_trace_rules(events);
  EXPECT_EQ(runs_of_items(events, [](auto const&) { return true; }), runs_of_step(program));
  auto const steps = track_in(events, kPredictedProcess, kStepTrack);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].at("args").at("step_s"), simulation.step_s);
  EXPECT_NEAR(steps[0].at("dur").get<double>(), 1e6 * simulation.step_s, 1e-2);
}

TEST(PredictedTrace, numbers_micro_batches_within_the_step) {
  auto const program = spilling(5);
  auto const events = predicted(program, simulate(program, small_machine_with_drive(0.1)));
  std::map<int, std::set<std::string>> segments;
  for (auto const& slice : of_phase(events, "X"))
    if (slice.at("args").contains("micro_batch"))
      segments[slice["args"]["micro_batch"]].insert(slice["args"]["segment"]);
  EXPECT_EQ(segments,
            (std::map<int, std::set<std::string>>{
                {0, {"first"}}, {1, {"middle"}}, {2, {"middle"}}, {3, {"middle"}}, {4, {"last"}}}));
}

// What a simulation leaves out is a gap of its length, behind which micro-batches go on counting.
TEST(PredictedTrace, leaves_room_for_repetitions_that_are_not_simulated) {
  auto const program = spilling(500);
  auto const simulation = simulate(program, small_machine_with_drive(0.1), 1000);
  ASSERT_GT(simulation.repeat.times, 0);
  auto const events = predicted(program, simulation);
  expect_trace_rules(events);
  auto slices = of_phase(events, "X");
  auto const repeat =
      std::ranges::find(slices, "repeat", [](auto const& s) { return s.at("cat"); });
  ASSERT_NE(repeat, slices.end());
  EXPECT_EQ(repeat->at("args").at("times"), simulation.repeat.times);
  EXPECT_NEAR(repeat->at("dur").get<double>(), 1e6 * simulation.repeat.left_out_s(), 1);
  std::set<int> micro_batches;
  for (auto const& slice : slices)
    if (slice.at("args").value("segment", "") == "last")
      micro_batches.insert(slice["args"].value("micro_batch", -1));
  EXPECT_EQ(micro_batches, std::set<int>{499});
  for (auto const& slice : slices)
    if (slice.at("args").value("segment", "") == "last") {
      EXPECT_GE(trace_ns(slice, "ts"), end_ns(*repeat));
    }
  auto const compute = track_in(events, kPredictedProcess, 100);
  auto const step = track_in(events, kPredictedProcess, kStepTrack).at(0);
  EXPECT_LE(end_ns(compute.back()), end_ns(step) + 1);
}

// The host works on a step beside the next one, which its lane alone limits.
TEST(PredictedTrace, begins_a_step_when_compute_may_take_it_up) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kGigabyte);
  auto const b = made.buffer(Tier::host, 3 * kGigabyte);
  made.program.buffers[0].versions = 2;
  made.item(Lane::compute, {}, {a});
  made.item(Lane::host, {a}, {b});
  finish(made.program);
  auto const events = predicted(made.program, simulate(made.program, kUnits));
  auto const step = track_in(events, kPredictedProcess, kStepTrack).at(0);
  auto const compute = track_in(events, kPredictedProcess, 100).at(0);
  auto const host = track_in(events, kPredictedProcess, 700).at(0);
  EXPECT_NEAR(end_ns(step), end_ns(compute), 2);
  EXPECT_GT(end_ns(host), end_ns(step));
}

TEST(PredictedTrace, counts_bytes_that_are_in_use_between_the_items_of_compute) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kGigabyte), b = made.buffer(Tier::host, kGigabyte);
  made.item(Lane::compute, {}, {a});
  made.item(Lane::host, {}, {b});
  made.item(Lane::compute, {a}, {});
  finish(made.program);
  auto const live = live_bytes(made.program, lifetimes(made.program), Tier::host);
  ASSERT_EQ(live[2], 0);
  auto const events = predicted(made.program, simulate(made.program, kUnits));
  EXPECT_EQ(most_of(events, kPredictedProcess, "host bytes"), live[1]);
}

class MeasuredTrace : public testing::Test {
 protected:
  MeasuredTrace()
      : m_program(spilling(2)),
        m_simulation(simulate(m_program, small_machine_with_drive(0.1))),
        m_times(predicted_times(m_program, m_simulation)) {
    m_trace.emplace(m_program, m_simulation, TraceReach{});
  }

  // Adds a step that takes `factor` of the predicted time.
  void add(std::int64_t number, double begin_s, double factor = 1) {
    MeasuredStep step{{number, 1e9 + begin_s, "go"}, begin_s, m_times};
    step.times.step_s *= factor;
    for (ItemTime& time : step.times.items) {
      time.ready_s *= factor;
      time.start_s *= factor;
      time.end_s *= factor;
    }
    m_trace->add(step, [this](std::string const& event) {
      m_events.push_back(nlohmann::json::parse(event));
    });
  }
  TraceEvents steps(int process) const { return track_in(m_events, process, kStepTrack); }

  Program m_program;
  Simulation m_simulation;
  StepTimes m_times;
  std::optional<Trace> m_trace;
  TraceEvents m_events;
};

TEST_F(MeasuredTrace, has_the_prediction_of_a_step_at_its_begin) {
  add(7, 3, 1.5);
  expect_trace_rules(m_events);
  auto const measured = steps(kMeasuredProcess), predicted = steps(kPredictedProcess);
  ASSERT_EQ(measured.size(), 1u);
  ASSERT_EQ(predicted.size(), 1u);
  EXPECT_EQ(measured[0].at("ts"), predicted[0].at("ts"));
  EXPECT_EQ(measured[0].at("name"), "step 7");
  EXPECT_EQ(
      measured[0].at("args"),
      (nlohmann::json{
          {"step", 7}, {"step_s", 1.5 * m_times.step_s}, {"unix_s", 1e9 + 3}, {"word", "go"}}));
  EXPECT_EQ(predicted[0].at("args"), (nlohmann::json{{"step", 7}, {"step_s", m_times.step_s}}));
  for (int const process : {kMeasuredProcess, kPredictedProcess})
    EXPECT_EQ(runs_of_items(m_events, [&](auto const& s) { return s.at("pid") == process; }),
              runs_of_step(m_program));
}

TEST_F(MeasuredTrace, has_steps_that_follow_each_other_on_one_clock) {
  auto const apart_s = 1.25 * m_times.step_s;
  add(7, 10);
  add(8, 10 + apart_s);
  auto const measured = steps(kMeasuredProcess);
  EXPECT_NEAR(trace_ns(measured[1], "ts") - trace_ns(measured[0], "ts"), 1e9 * apart_s, 2);
  EXPECT_EQ(steps(kPredictedProcess).size(), 2u);
  expect_trace_rules(m_events);
}

TEST_F(MeasuredTrace, has_a_gap_for_steps_that_are_not_shown) {
  add(7, 10);
  auto const end = m_trace->reach().end_ns;
  add(9, 1000);
  auto const begin = trace_ns(steps(kMeasuredProcess)[1], "ts");
  EXPECT_GE(begin - end, 100'000'000);
  EXPECT_LT(begin - end, 200'000'000 + std::llround(1e9 * m_times.step_s));
  expect_trace_rules(m_events);
}

TEST_F(MeasuredTrace, leaves_out_a_prediction_that_overlaps_the_one_before) {
  add(7, 0, 0.5);
  add(8, 0.5 * m_times.step_s, 0.5);
  add(9, m_times.step_s + 1e-3, 0.5);
  EXPECT_EQ(steps(kMeasuredProcess).size(), 3u);
  ASSERT_EQ(steps(kPredictedProcess).size(), 2u);
  EXPECT_EQ(steps(kPredictedProcess)[1].at("args").at("step"), 9);
  expect_trace_rules(m_events);
}

TEST_F(MeasuredTrace, goes_on_behind_a_trace_that_was_written) {
  add(7, 10);
  TraceReach reach;
  for (auto const& event : m_events) EXPECT_TRUE(reach.take_in(event.dump()));
  EXPECT_FALSE(reach.take_in("{\"ph\":\"X\",\"pi"));
  EXPECT_NEAR(reach.end_ns, m_trace->reach().end_ns, 2);
  EXPECT_EQ(reach.flows, m_trace->reach().flows);
  m_trace.emplace(m_program, m_simulation, reach);
  add(7, 0);
  expect_trace_rules(m_events);
}

// Several transfers of the drive are under way together.
TEST_F(MeasuredTrace, deals_what_overlaps_out_to_rows) {
  MeasuredStep step{{1, 0.0, "go"}, 0, m_times};
  for (ItemTime& time : step.times.items)
    if (m_program.items[time.item].lane == Lane::nvme_write) time.end_s += 0.01;
  m_trace->add(
      step, [this](std::string const& event) { m_events.push_back(nlohmann::json::parse(event)); });
  expect_trace_rules(m_events);
  EXPECT_TRUE(tracks_of(m_events).contains({kMeasuredProcess, 501}));
}

// Compute may not overwrite what the drive still writes.
TEST(Trace, draws_what_a_step_waited_for_in_the_step_before) {
  HandMade made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kGigabyte), away = made.buffer(Tier::nvme, kGigabyte);
  made.item(Lane::compute, {}, {a});
  made.item(Lane::nvme_write, {a}, {away});
  finish(made.program);
  ASSERT_EQ(made.program.items[0].waits, std::vector<ItemNumber>{1});
  Trace trace(made.program, simulate(made.program, kUnits), {});
  TraceEvents events;
  auto const add = [&](std::int64_t number, std::vector<ItemTime> items) {
    MeasuredStep const step{
        {number, 0.0, "go"}, static_cast<double>(number), {std::move(items), 1}};
    trace.add(step, [&](auto const& event) { events.push_back(nlohmann::json::parse(event)); });
  };
  add(1, {{0, 0, 0, 1}, {1, 0, 1, 2}});
  add(2, {{0, 0, 1, 2}, {1, 1, 2, 3}});
  expect_trace_rules(events);
  auto ends = of_phase(events, "f");
  std::erase_if(ends, [](auto const& end) { return track_of(end) != std::pair(1, 100); });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].at("ts"), track_in(events, kMeasuredProcess, 100).at(1).at("ts"));
}

}  // namespace
}  // namespace spillway::test::traces_test
