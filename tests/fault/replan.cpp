// A drive that becomes slow, or fails, while a run goes on: the run takes another plan between two
// steps, and no bit of its results shows it. How slow it is is told, and not measured, so that no
// busy machine decides.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <span>

#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::replan_test {
namespace {

// The state does not fit on the device beside the activations: some of both goes away.
Keys const kShort = {"data.sequence=128", "batch.micro=4",      "model.layers=4",
                     "run.steps=32",      "memory.device=6MiB", "run.checkpoint.every=0",
                     "run.eval.every=8"};

class Replanning : public ::testing::TestWithParam<int> {
 protected:
  Replanning() {
    auto const file = scratch_directory(name() + "_machine") / "machine.yaml";
    std::ofstream(file) << fast_drive_machine();
    m_keys = kShort + Keys{"debug.machine=" + file.string()};
    if (GetParam() == 0) m_keys = m_keys + Keys{"batch.sequences=4"};  // as a rank of two has
    // Beside a device, host memory that is `auto` would be enough for all, and little is computed,
    // so that a slow drive shows. Elsewhere two places are fixed, so that a search is short.
    m_keys = m_keys + (on_device() ? scarce_memory()
                                   : Keys{"plan.gradients=device", "plan.parameters=device"});
    if (on_ptx()) m_keys.emplace_back("run.steps=19");
  }
  static std::string name() { return fmt::format("replan_{}", GetParam()); }
  Experiment experiment(Keys const& keys = {}) const {
    return Experiment(name(), GetParam(), m_keys + keys);
  }

  Keys m_keys;
};

// Returns the names in the order of their steps, all of which have two digits here.
std::vector<std::string> plans_of(Run const& run) {
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(run.dir)) {
    auto const name = entry.path().filename().string();
    if (name.starts_with("plan-")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

bool says(Run const& run, std::string const& text) {
  return run.output.find(text) != std::string::npos;
}

std::int64_t spilled_bytes(std::span<nlohmann::json const> rows) {
  std::int64_t sum = 0;
  for (auto const& row : rows) sum += row.at("spilled_bytes").get<std::int64_t>();
  return sum;
}

void expect_equal(Run const& reference, Run const& run) {
  expect_equal_steps(reference, run);
  expect_equal_state(reference, run);
}

TEST_P(Replanning, leaves_a_drive_that_becomes_slow_without_a_bit_of_difference) {
  auto const runs = experiment();
  auto const stays = runs.run("stays", {"plan.replan=false"});
  ASSERT_GT(stays.spilled_bytes(), 0);
  auto const slow = runs.run("slow", {"debug.fault=drive-told-slow:1"});
  ASSERT_EQ(slow.status, 0);
  ASSERT_FALSE(plans_of(slow).empty()) << slow.output;
  EXPECT_EQ(slow.summary.at("plan").get<std::string>(), plans_of(slow).back());
  auto events = read_events(slow.dir);
  EXPECT_EQ(events.back().at("event"), "end");
  events.pop_back();
  auto const event = events.back();
  EXPECT_EQ(event.at("event"), "replan");
  EXPECT_GT(event.at("predicted_step_s"), 0);
  EXPECT_EQ(event.at("plan"), plans_of(slow).back());
  EXPECT_EQ(fmt::format("plan-{}.yaml", event.at("step").get<int>()), plans_of(slow).back());
  EXPECT_TRUE(event.at("why").get<std::string>().starts_with("steps take ")) << event;
  EXPECT_TRUE(says(slow, "the drive writes at")) << slow.output;
  EXPECT_TRUE(says(slow, "new plan from step ")) << slow.output;
  EXPECT_GT(slow.summary.at("times").at("re-planning").at("min_s"), 0) << slow.summary;
  EXPECT_FALSE(stays.summary.at("times").contains("re-planning")) << stays.summary;
  expect_equal(stays, slow);
  expect_measured_as_planned(slow);
  // What a step writes may count as the next one's: the first ten steps wrote nine times what one
  // of them does at least, and the last eight nine times what one of theirs does at most.
  EXPECT_LT(spilled_bytes(std::span(slow.rows).last(8)),
            spilled_bytes(std::span(slow.rows).first(10)));
  EXPECT_TRUE(plans_of(stays).empty());
}

class StayingPlan : public Replanning {};

TEST_P(StayingPlan, stays_where_the_user_says_so) {
  auto const runs = experiment({"run.steps=12"});
  auto const slow = runs.run("slow", {"plan.replan=false", "debug.fault=storage-slow:1"});
  ASSERT_EQ(slow.status, 0);
  EXPECT_TRUE(plans_of(slow).empty());
  EXPECT_FALSE(says(slow, "the plan stays")) << "nobody is to look for another";
  EXPECT_EQ(slow.summary.at("plan").get<std::string>(), "plan.yaml");
}

// However long steps take: where all is resident nothing is to be gained.
TEST_P(StayingPlan, is_not_thought_of_where_nothing_is_away) {
  if (on_device() && GetParam() > 0)
    GTEST_SKIP() << "ranks exchange gradients in main memory, so something is away";
  auto const run = experiment({"memory.device=1GiB", "run.steps=14"}).run("resident");
  EXPECT_TRUE(plans_of(run).empty());
  EXPECT_FALSE(says(run, "the plan stays")) << run.output;
}

TEST_P(Replanning, is_repeated_from_a_checkpoint_of_it) {
  auto const runs = experiment({"run.checkpoint.every=12"});
  auto const slow = runs.run("slow", {"debug.fault=drive-told-slow:1"});
  ASSERT_FALSE(plans_of(slow).empty()) << slow.output;
  ASSERT_EQ(plans_of(slow).front(), "plan-11.yaml") << "the checkpoint is of the first plan";
  auto const resumed = runs.resume("resumed", slow, 12);
  expect_equal_state(slow, resumed);
}

// Only activations leave: what fails is made anew, by a plan that keeps or repeats them.
class WithoutStorage : public Replanning {
 protected:
  void SetUp() override {
    if (on_device()) GTEST_SKIP() << "what fits there at all keeps or repeats activations";
  }

  Keys const m_in_reach = {"plan.parameters=device", "plan.optimizer=device", "plan.shard=none",
                           "run.steps=12", "memory.device=7MiB"};
};

TEST_P(WithoutStorage, goes_on_where_no_state_lies_there) {
  auto const runs = experiment(m_in_reach);
  auto const whole = runs.run("whole");
  ASSERT_GT(whole.spilled_bytes(), 0) << whole.output;
  for (auto const* fault : {"storage-write-all:30", "storage-read-all:30"}) {
    SCOPED_TRACE(fault);
    auto const run = runs.run(fault, {std::string("debug.fault=") + fault});
    ASSERT_EQ(run.status, 0);
    EXPECT_TRUE(says(run, "storage has failed; new plan without it")) << run.output;
    EXPECT_TRUE(says(run, "is done again, without storage")) << run.output;
    EXPECT_GT(run.summary.at("times").at("failed steps").at("min_s"), 0) << run.summary;
    EXPECT_EQ(plans_of(run).size(), 1u);
    EXPECT_EQ(run.rows.back().at("spilled_bytes").get<std::int64_t>(), 0);
    expect_equal(whole, run);
  }
}

// Two ranks that fit beside a device only with storage have no other plan to change to.
INSTANTIATE_TEST_SUITE_P(Ranks, Replanning,
                         ::testing::ValuesIn(on_device() ? std::vector{0} : std::vector{0, 2}));
INSTANTIATE_TEST_SUITE_P(Ranks, StayingPlan,
                         ::testing::ValuesIn(takes_all() ? std::vector{0, 2} : std::vector{0}));
INSTANTIATE_TEST_SUITE_P(Ranks, WithoutStorage, ::testing::Values(0, 2));

}  // namespace
}  // namespace spillway::test::replan_test
