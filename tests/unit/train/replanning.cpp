// When a run looks for another plan, what it says of it, and which one it takes. Steps take the
// times that they are told.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/units.hpp"
#include "device/host/host_device.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "train/replanner.hpp"

namespace spillway::test::replanning_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
constexpr Budgets kMost = {kGib, 0, kGib};

// Every place is asked for, and what a layer makes goes to the drive: a search finds this again.
Config spilling() {
  auto config = tiny_config();
  config.model.hidden = 64;
  config.data.sequence = 64;
  config.batch.sequences = 4;
  config.run.steps = 1'000'000;
  config.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
  config.debug.kernels = KernelSet::portable;
  config.debug.force_backend = Backend::posix;
  config.plan.activations = {BlockPlan{BlockPolicy::nvme, 1}};
  for (auto* places : {&config.plan.parameters, &config.plan.gradients, &config.plan.optimizer,
                       &config.plan.update})
    *places = {Tier::device};
  config.plan.prefetch = 1;
  return config;
}

PlannedRun planned_for(Config const& config, double search_s) {
  auto run = plan_run(config, kTinyVocab,
                      {small_machine_with_drive(1), kMost, {.threads = 1, .micro = 4}});
  run.search_s = search_s;
  return run;
}

// A run on one rank and all that its Replanner looks at. `config` may change when it is planned.
struct Watched {
  explicit Watched(Config const& planned_with, double search_s = 0, Budgets const& may_take = kMost)
      : config(planned_with), planned(planned_for(config, search_s)), limits(may_take) {
    auto larger = train();  // a file with some room
    larger.peak_bytes[Tier::nvme] *= 2;
    memory.make_spill_file(config, larger, 0);
  }

  Program const& train() const { return planned.programs.train; }
  // A step as it is on a machine whose drive is so many times slower than it was planned with.
  StepResult slower(double times) const {
    auto machine = fast;
    machine.nvme_write_gbps /= times;
    machine.nvme_read_gbps /= times;
    auto const told = simulate(train(), machine);
    StepResult result;
    result.step_s = told.step_s;
    for (Lane const lane : kLanesInOrder)
      result.lanes.use[index(lane)] = {told.busy_s[lane], 0, told.bytes[lane]};
    return result;
  }
  std::optional<NewPlan> steps(std::int64_t first, std::int64_t last, StepResult const& result) {
    std::optional<NewPlan> plan;
    for (auto step = first; step <= last; ++step) {
      auto found = after_step(step, result);
      if (found) plan = std::move(found);
    }
    return plan;
  }
  // Does what a Trainer does after a step, whose commit has told what was watched before it.
  std::optional<NewPlan> after_step(std::int64_t step, StepResult result) {
    result.note.step_s = replanner.watched_step_s();
    if (!replanner.has_drifted(step, result)) return std::nullopt;
    return replanner.look_for_better(step);
  }

  Config config;
  Machine const fast = small_machine_with_drive(1);
  PlannedRun planned;
  Budgets limits;
  Simulation const simulation = simulate(planned.programs.train, fast);
  std::unique_ptr<Comm> comm = make_single_rank_comm();
  RunMemory memory{config, host_device(), planned.programs.train, kMost};
  Replanner replanner{{config, kTinyVocab, planned, simulation, fast, limits, memory, *comm}};
};

std::string rate_of_writes(StepResult const& step) {
  auto const& use = step.lanes.use[index(Lane::nvme_write)];
  return fmt::format("{:.2g}", static_cast<double>(use.bytes) / use.busy_s * 1e-9);
}

class Replans : public ::testing::Test {
 protected:
  CapturedLog m_log;
};

// Eight steps are watched, behind two that are not, and told with the next one; behind the first
// search eight, then sixteen.
TEST_F(Replans, wait_twice_as_long_after_each_search) {
  Watched run(spilling());
  auto const once = run.slower(1e3), more = run.slower(1e4), most = run.slower(1e5);
  std::string searched;
  for (std::int64_t step = 1; step <= 70; ++step) {
    run.after_step(step, step <= 11 ? once : step <= 28 ? more : most);
    if (!m_log.taken().empty()) searched += std::to_string(step) + " ";
  }
  EXPECT_EQ(searched, "11 28 53 ");
}

TEST_F(Replans, are_told_with_the_median_of_what_was_seen_and_what_was_expected) {
  Watched run(spilling());
  auto const usual = run.slower(1e3);
  run.steps(1, 2, run.slower(1e6));
  std::int64_t done = 2;
  for (double const times : {9.0, 0.5, 1.0, 9.0, 1.0, 1.0, 9.0, 1.0}) {
    EXPECT_EQ(m_log.taken(), "");
    auto step = usual;
    step.step_s *= times;
    EXPECT_FALSE(run.after_step(++done, step));
  }
  run.steps(11, 11, usual);  // its commit tells what was seen
  auto const said = m_log.taken();
  EXPECT_TRUE(said.starts_with(
      fmt::format("info: step 11: steps take {}, expected {}: ", human_duration(usual.step_s),
                  human_duration(run.simulation.step_s))))
      << said;
  EXPECT_NE(said.find(fmt::format("the drive writes at {} GB/s instead of {}",
                                  rate_of_writes(usual), rate_of_writes(run.slower(1)))),
            said.npos)
      << said;
  EXPECT_TRUE(said.ends_with("; the plan stays: no other gains enough\n")) << said;
}

// What eight steps took that were as planned does not count for the next eight.
TEST_F(Replans, look_at_no_step_of_an_earlier_watch) {
  Watched run(spilling());
  auto const usual = run.slower(1), slow = run.slower(1e3);
  run.steps(1, 10, usual);
  run.steps(11, 18, slow);
  EXPECT_EQ(m_log.taken(), "");
  run.steps(19, 19, slow);
  auto const said = m_log.taken();
  EXPECT_NE(said.find(fmt::format("the drive writes at {} GB/s instead of {}", rate_of_writes(slow),
                                  rate_of_writes(usual))),
            said.npos)
      << said;
}

TEST_F(Replans, are_not_thought_of_where_nobody_wants_them_or_no_step_is_left) {
  auto config = spilling();
  config.plan.replan = false;
  Watched unwanted(config);
  EXPECT_FALSE(unwanted.steps(1, 40, unwanted.slower(1e3)));
  EXPECT_EQ(m_log.taken(), "");
  config.plan.replan = true;
  config.run.steps = 11;
  Watched over(config);
  EXPECT_FALSE(over.steps(1, 11, over.slower(1e3)));
  EXPECT_EQ(m_log.taken(), "");
}

TEST_F(Replans, are_not_looked_for_where_a_search_takes_longer_than_they_could_gain) {
  auto config = spilling();
  Watched slow(config, 1e12);
  slow.steps(1, 11, slow.slower(1e3));
  auto const said = m_log.taken();
  EXPECT_TRUE(said.ends_with("; the plan stays: too few steps are left\n")) << said;
  config.run.steps = 12;
  Watched last(config, 0);
  last.steps(1, 11, last.slower(1e3));
  EXPECT_TRUE(m_log.taken().ends_with("no other gains enough\n")) << "one step is left";
}

// What is computed again may be kept instead where it pays; what is all kept has nothing to gain.
TEST_F(Replans, are_looked_for_unless_all_is_kept_on_the_device) {
  BlockPlan const keep{BlockPolicy::keep, 1}, recompute{BlockPolicy::recompute, 1};
  auto config = spilling();
  for (auto const& activations : {std::vector{keep}, std::vector{recompute, keep}}) {
    config.plan.activations.assign(activations.begin(), activations.end());
    Watched run(config);
    auto step = run.slower(1);
    step.step_s *= 10;
    for (auto& lane : step.lanes.use) lane.busy_s *= 10;
    run.steps(1, 11, step);
    EXPECT_EQ(m_log.taken().empty(), activations.size() == 1);
  }
}

// Of a rank that may take less than this one has.
TEST_F(Replans, that_fit_nowhere_are_none) {
  Watched run(spilling(), 0, {4096, 0, kGib});
  EXPECT_FALSE(run.steps(1, 11, run.slower(1e3)));
  auto const said = m_log.taken();
  EXPECT_TRUE(said.ends_with("; the plan stays: there is no other\n")) << said;
}

TEST_F(Replans, that_pay_are_told_and_become_the_plan) {
  Watched run(spilling());
  run.config.plan = {};
  auto const before = run.train().peak_bytes;
  ASSERT_GT(before[Tier::nvme], 0);
  EXPECT_EQ(run.replanner.file(), "plan.yaml");
  EXPECT_EQ(&run.replanner.planned(), &run.planned);
  auto better = run.steps(1, 11, run.slower(1e3));
  ASSERT_TRUE(better);
  auto const said = m_log.taken();
  EXPECT_TRUE(better->why.starts_with("steps take ")) << better->why;
  EXPECT_TRUE(
      said.starts_with(fmt::format("info: step 11: {}; new plan from step 12 ({} instead of ",
                                   better->why, human_duration(better->simulation.step_s))))
      << said;
  auto const& next = better->run->programs.train;
  auto const step_s = simulate(next, run.fast).step_s;  // does not use the drive
  EXPECT_NEAR(better->simulation.step_s, step_s, 0.01 * step_s) << "rates were fitted";
  EXPECT_EQ(next.peak_bytes[Tier::nvme], 0);
  EXPECT_TRUE(better->move.once);

  auto const after = next.peak_bytes;
  auto const* const chosen = better->run.get();
  run.replanner.adopt(std::move(*better), 11);
  EXPECT_EQ(run.replanner.file(), "plan-11.yaml");
  EXPECT_EQ(&run.replanner.planned(), chosen);
  EXPECT_NEAR(run.replanner.simulation().step_s, step_s, 0.01 * step_s);
  auto const& peaks = run.replanner.peak_bytes();
  EXPECT_EQ(peaks[Tier::device], std::max(before[Tier::device], after[Tier::device]));
  EXPECT_EQ(peaks[Tier::nvme], before[Tier::nvme]) << "the largest of all plans";
  EXPECT_FALSE(run.steps(12, 60, run.slower(1e6))) << "nothing leaves the device";
  EXPECT_EQ(m_log.taken(), "");
}

TEST_F(Replans, without_storage_are_told_and_storage_is_not_thought_of_again) {
  Watched run(spilling());
  auto const asked = run.config.plan;
  EXPECT_FALSE(run.replanner.without_storage(5)) << "activations are to go there";
  EXPECT_EQ(m_log.taken(), "");
  run.config.plan = {};
  auto const other = run.replanner.without_storage(5);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->why, "storage has failed");
  EXPECT_EQ(other->run->programs.train.peak_bytes[Tier::nvme], 0);
  EXPECT_EQ(
      m_log.taken(),
      fmt::format("info: step 5: storage has failed; new plan without it from step 6 ({} "
                  "instead of {})\n",
                  human_duration(other->simulation.step_s), human_duration(run.simulation.step_s)));
  run.config.plan = asked;
  run.steps(1, 11, run.slower(1e3));
  auto const said = m_log.taken();
  EXPECT_TRUE(said.ends_with("; the plan stays: there is no other\n")) << said;
}

TEST_F(Replans, without_storage_are_none_where_state_lies_there_or_nobody_wants_them) {
  auto config = spilling();
  config.plan.replan = false;
  Watched unwanted(config);
  unwanted.config.plan.activations = {std::nullopt};
  EXPECT_FALSE(unwanted.replanner.without_storage(5));
  config.plan.replan = true;
  config.plan.optimizer = {Tier::nvme};
  config.plan.update = {std::nullopt};
  Watched with_state(config);
  ASSERT_GT(with_state.train().persistent_bytes[index(Tier::nvme)], 0);
  with_state.config.plan = {};
  EXPECT_FALSE(with_state.replanner.without_storage(5));
  EXPECT_EQ(m_log.taken(), "");
}

}  // namespace
}  // namespace spillway::test::replanning_test
