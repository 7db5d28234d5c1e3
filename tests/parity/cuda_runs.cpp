// A run on the stand-in for CUDA's runtime: the same bits whatever the device does when, and no
// call of the backend that could be left out without being noticed.
#include <fmt/format.h>

#include <cstdlib>

#include "comm/comm.hpp"
#include "plan/data/plan.hpp"
#include "tests/support/cuda/next_run.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/support/tiny_run.hpp"

namespace spillway::test {
namespace {

// Something of everything: chunks on all tiers, updates on both lanes, activations on the drive.
Plan mixed_plan(Graph const& graph) {
  constexpr std::array tiers = {Tier::nvme, Tier::host, Tier::device};
  Plan plan;
  for (Block const& block : graph.blocks)
    plan.blocks.push_back(block.layer ? BlockPlan{BlockPolicy::nvme} : BlockPlan{});
  for (std::size_t i = 0; i < graph.chunks.size(); ++i) {
    auto const tier = tiers[i % tiers.size()];
    auto const update = i % 2 == 0 ? Tier::device : Tier::host;
    plan.chunks.push_back({tiers[(i + 1) % tiers.size()], Tier::device, tier, update});
  }
  plan.prefetch = 1;
  plan.unified = false;
  normalise(graph, plan);
  return plan;
}

class StandInRun : public ::testing::Test {
 protected:
  Story story(cuda::NextRun const& next) {
    cuda::ask_of_next_run(next);
    return train({.graph = m_graph, .plan = m_plan, .comm = *m_comm, .steps = 2, .learns = false});
  }

  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  Graph m_graph = tiny_run_graph(tiny_config());
  Plan m_plan = mixed_plan(m_graph);
};

std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  auto const* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST_F(StandInRun, GivesTheSameBitsWheneverTheDeviceDoesWhat) {
  auto const expected = story({.settings = cuda::Settings{.laziness = cuda::Laziness::eager}});
  EXPECT_EQ(story({.settings = cuda::Settings{.laziness = cuda::Laziness::latest}}), expected);
  auto const seeds = number_in("SPILLWAY_SEEDS", 300);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    ASSERT_EQ(story({.settings = cuda::Settings{.seed = seed}}), expected) << "seed " << seed;
}

// The process that a dropped call leaves may be in any state, so each has one of its own: this test
// is run there, and passes if nothing was noticed.
TEST_F(StandInRun, DISABLED_NoticesNothing) {
  auto const settings = cuda::Settings{.seed = 1};
  auto const expected = story({.settings = settings});
  cuda::PlannedFault const fault{.call = std::getenv("SPILLWAY_DROPPED_CALL"),
                                 .n = static_cast<std::int64_t>(number_in("SPILLWAY_DROPPED", 0)),
                                 .kind = cuda::PlannedFault::Kind::dropped};
  EXPECT_EQ(story({.settings = settings, .fault = fault}), expected);
}

bool is_noticed(std::string const& call, std::int64_t n) {
  auto const command = fmt::format(
      "SPILLWAY_DROPPED_CALL={} SPILLWAY_DROPPED={} timeout -k 5 60 {} "
      "--gtest_also_run_disabled_tests --gtest_filter=StandInRun.DISABLED_NoticesNothing "
      ">/dev/null 2>&1",
      call, n, std::filesystem::read_symlink("/proc/self/exe").string());
  return std::system(command.c_str()) != 0;
}

// Returns some numbers of calls, the first and the last among them.
std::set<std::int64_t> some_of(std::int64_t calls) {
  auto const most = static_cast<std::int64_t>(number_in("SPILLWAY_DROPS", 4));
  std::set<std::int64_t> result;
  for (std::int64_t i = 0; i < most; ++i)
    result.insert(i * (calls - 1) / std::max<std::int64_t>(1, most - 1));
  return result;
}

TEST_F(StandInRun, NoticesEveryCallThatIsDropped) {
  story({.settings = cuda::Settings{.seed = 1}});
  std::vector<std::string> unnoticed;
  for (auto const& [call, count] : cuda::calls()) {
    for (auto const n : some_of(count))
      if (!is_noticed(call, n)) unnoticed.push_back(fmt::format("{} {} of {}", call, n, count));
  }
  EXPECT_EQ(unnoticed, std::vector<std::string>{});
}

}  // namespace
}  // namespace spillway::test
