// Ranks look for another plan together, also where only one of them has a reason to.
#include <gtest/gtest.h>

#include <string>

#include "base/checksum.hpp"
#include "comm/gathered.hpp"
#include "device/host/host_device.hpp"
#include "plan/data/plan.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "train/replanner.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

constexpr std::int64_t kGib = std::int64_t{1} << 30;
constexpr Budgets kMost = {kGib, 0, kGib};

bool is_last_rank() {
  return g_comm->rank() == g_comm->size() - 1;
}

Config spilling() {
  auto config = tiny_config();
  config.model.hidden = 64;
  config.data.sequence = 64;
  config.batch.sequences = 4 * g_comm->size();
  config.run.steps = 1'000'000;
  config.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
  config.debug.kernels = KernelSet::portable;
  config.debug.force_backend = Backend::posix;
  config.plan.activations = {BlockPlan{BlockPolicy::nvme, 1}};
  return config;
}

PlannedRun planned_for(Config const& config, double search_s) {
  auto run =
      plan_run(config, kTinyVocab,
               {small_machine_with_drive(1), kMost, {.threads = 1, .micro = 4}, g_comm->size()});
  run.search_s = search_s;
  return run;
}

// What a Replanner looks at on this rank; `config` may change when it is planned.
struct Watched {
  explicit Watched(double search_s) : planned(planned_for(config, search_s)) {
    auto larger = planned.programs.train;  // a file with some room
    larger.peak_bytes[Tier::nvme] *= 2;
    memory.make_spill_file(config, larger, g_comm->rank());
  }

  // On the last rank the drive is a thousand times slower than planned.
  StepResult step() const {
    auto machine = fast;
    if (is_last_rank()) machine.nvme_write_gbps = machine.nvme_read_gbps = 1e-3;
    auto const told = simulate(planned.programs.train, machine);
    StepResult result;
    result.step_s = told.step_s;
    for (Lane const lane : kLanesInOrder)
      result.lanes.use[index(lane)] = {told.busy_s[lane], 0, told.bytes[lane]};
    return result;
  }
  // Ten steps, and one whose commit tells what was watched.
  std::optional<NewPlan> eleven_steps() {
    std::optional<NewPlan> plan;
    for (int done = 1; done <= 11; ++done) {
      EXPECT_FALSE(plan);
      auto result = step();
      result.note.step_s = std::ranges::max(gathered(*g_comm, replanner.watched_step_s()));
      if (replanner.has_drifted(done, result)) plan = replanner.look_for_better(done);
    }
    return plan;
  }

  Config config = spilling();
  Machine const fast = small_machine_with_drive(1);
  PlannedRun planned;
  Simulation const simulation = simulate(planned.programs.train, fast);
  RunMemory memory{config, host_device(), planned.programs.train, kMost};
  Replanner replanner{{config, kTinyVocab, planned, simulation, fast, kMost, memory, *g_comm}};
};

TEST(ReplansOfRanks, are_for_the_slowest_and_the_same_on_all) {
  CapturedLog log;
  Watched run(0);
  run.config.plan = {};
  auto const plan = run.eleven_steps();
  auto const text = plan ? to_yaml(plan->run->plan, plan->run->train) + plan->why : "none";
  auto const sums = gathered(*g_comm, checksum(std::as_bytes(std::span(text))));
  for (auto const sum : sums) EXPECT_EQ(sum, sums[0]);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->run->programs.train.peak_bytes[Tier::nvme], 0);
  EXPECT_EQ(log.taken().empty(), g_comm->rank() != 0) << "rank 0 speaks for all";
}

TEST(ReplansOfRanks, are_not_looked_for_where_a_search_takes_one_of_them_too_long) {
  CapturedLog log;
  Watched run(is_last_rank() ? 1e12 : 0);
  EXPECT_FALSE(run.eleven_steps());
  auto const said = log.taken();
  EXPECT_EQ(said.ends_with("; the plan stays: too few steps are left\n"), g_comm->rank() == 0)
      << said;
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
