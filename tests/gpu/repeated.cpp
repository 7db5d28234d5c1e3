// The same run once more gives the same bits. On the interpreter of PTX each run has another seed,
// which decides how late streams are and in which order blocks and warps run.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "tests/gpu/gpu.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/sample.hpp"

namespace spillway::test::repeated_test {
namespace {

// Returns how many turns warps had in a run, 0 if no interpreter ran it.
std::int64_t turns_in(std::filesystem::path const& calls) {
  std::ifstream file(calls);
  std::string name;
  for (std::int64_t count = 0; file >> name >> count;)
    if (name == "turns_of_warps") return count;
  return 0;
}

// Every lane has something to do.
Keys const kTiny = {"model.layers=2",
                    "model.hidden=32",
                    "data.sequence=22",
                    "batch.micro=1",
                    "optim.clip=0.25",
                    "run.steps=2",
                    "run.eval.every=2",
                    "run.checkpoint.every=0",
                    "plan.activations=[nvme,host]",
                    "plan.parameters=[host,device]",
                    "plan.gradients=host",
                    "plan.optimizer=[nvme,device]",
                    "plan.update=[device,host]",
                    "plan.prefetch=1"};

struct SeededRun {
  Run run;
  std::int64_t turns = 0;
};

class Repeated : public testing::TestWithParam<int> {
 protected:
  SeededRun run_with(unsigned seed) const {
    auto const name = fmt::format("seed_{}", seed);
    auto const calls = m_experiment.directory() / (name + ".calls");
    ::setenv("SPILLWAY_STAND_IN_SEED", std::to_string(seed).c_str(), 1);
    ::setenv("SPILLWAY_STAND_IN_CALLS", calls.c_str(), 1);
    auto run = m_experiment.run(name, on_gpu(GetParam()));
    ::unsetenv("SPILLWAY_STAND_IN_SEED");
    ::unsetenv("SPILLWAY_STAND_IN_CALLS");
    return {std::move(run), turns_in(calls)};
  }

 private:
  Experiment const m_experiment{
      fmt::format("repeated_{}", GetParam()), GetParam(),
      kTiny + Keys{fmt::format("batch.sequences={}", 2 * std::max(1, GetParam()))}};
};

TEST_P(Repeated, runs_give_equal_bits_in_whatever_order_their_work_is_done) {
  auto const seeds = sampled_seeds(2, takes_all() ? 30 : 1000);
  auto const first = run_with(1000);
  ASSERT_EQ(first.run.status, 0);
  std::set<std::int64_t> turns = {first.turns};
  for (auto const seed : seeds) {
    auto const again = run_with(seed);
    ASSERT_EQ(again.run.status, 0);
    expect_equal_steps(first.run, again.run);
    expect_equal_state(first.run, again.run);
    turns.insert(again.turns);
  }
  EXPECT_EQ(on_ptx(), turns.size() > 1) << "no seed has decided anything";
}

// Ordinarily one rank and two take turns on the interpreter.
std::vector<int> ranks() {
  std::vector<int> const all = {0, 2};
  if (!on_ptx() || takes_all()) return all;
  return {all[turn_of(all.size())]};
}

INSTANTIATE_TEST_SUITE_P(Ranks, Repeated, testing::ValuesIn(ranks()));

}  // namespace
}  // namespace spillway::test::repeated_test
