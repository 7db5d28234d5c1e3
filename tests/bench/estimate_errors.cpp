// Measures how far estimates of random plans are from what their Programs need and take: a step's
// time from the simulated one, and the device's bytes from the exact ones.
//   build/bin/spillway_bench_estimate_errors [plans [seed]]    (150 plans, seed 1)
// A plan draws a policy for every layer (a third of those that leave the device do so with half of
// their rows), prefetch 1, 2 or 4, and any number of the search's moves of state from either end.
// 0 to 4 quarters of all state may go to the host, the rest goes to the drive (all of it on a CPU).
// The host lane updates moved state in three plans of four. Machines of a kind get the same plans.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/proof/derive.hpp"
#include "plan/search/activation_mix.hpp"
#include "plan/search/strategy.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kPlenty = std::int64_t{1} << 50;

struct Site {
  std::string name;
  Machine machine;
};

Site site(std::string const& name, std::string const& file, double drive_gbps = 0) {
  auto machine = load_machine(SPILLWAY_SOURCE_DIR "/input/machines/" + file);
  if (drive_gbps > 0)
    machine.nvme_write_gbps = machine.nvme_read_gbps = machine.nvme_both_gbps = drive_gbps;
  return {name, machine};
}

// Collects the errors on one machine. If it `clips`, updates wait for the norm.
class Errors {
 public:
  Errors(Graph const& graph, Machine const& machine, bool clips)
      : m_graph(graph),
        m_machine(machine),
        m_budgets{kPlenty, machine.is_unified() ? 0 : kPlenty, kPlenty},
        m_open(open_plan(graph, PlanWords{.norm_is_awaited = clips}, machine.is_unified())),
        m_policies(policies_within(m_open, m_budgets)),
        m_model(block_model(graph, machine, m_policies)) {
    for (ChunkCost const& chunk : m_model.chunks)
      m_state_bytes += chunk.optimizer_bytes + chunk.home_bytes;
  }

  void measure(int plans, unsigned seed) {
    Random draws(seed);
    for (int i = 0; i < plans; ++i) add_errors(random_plan(draws));
  }

  // Returns the row's numbers, all in %.
  std::string text() const {
    auto sorted = m_time;
    for (double& error : sorted) error = std::abs(error);
    std::ranges::sort(sorted);
    return fmt::format("{} | {:.1f} | {:.1f} | {}", spread(m_time), sorted[sorted.size() * 9 / 10],
                       sorted.back(), spread(m_bytes));
  }

 private:
  Plan random_plan(Random& draws) {
    StrategySpace const space(m_estimator, m_open, m_budgets);
    Strategy strategy;
    strategy.prefetch = 1 << below(draws, 3);
    for (int layer = 0; layer < space.layers(); ++layer) {
      BlockPlan block{m_policies[below(draws, static_cast<int>(m_policies.size()))], 1};
      if (below(draws, 3) == 0 && away_tier(block.policy)) block.fraction = 0.5;
      strategy.own.push_back(block);
    }
    auto& moves = strategy.moves;
    moves.count = below(draws, space.most_moves() + 1);
    moves.from_back = below(draws, 2) == 0;
    moves.parameters_from_back = below(draws, 2) == 0;
    moves.device_updates = below(draws, 4) == 0;
    strategy.host_bytes = std::min(m_budgets.host_bytes, below(draws, 5) * m_state_bytes / 4);
    return space.plan_of(strategy);
  }

  void add_errors(Plan const& plan) {
    auto program = compile_without_waits(m_graph, nullptr, plan, 1, 1).train;
    derive_waits(program);
    auto const error = [](double estimated, double exact) { return 100 * (estimated / exact - 1); };
    m_time.push_back(error(m_estimator.step_s(plan), simulate(program, m_machine).step_s));
    m_bytes.push_back(error(static_cast<double>(m_estimator.peaks(plan)[Tier::device]),
                            static_cast<double>(program.peak_bytes[Tier::device])));
  }

  static std::string spread(std::vector<double> const& errors) {
    auto const count = static_cast<double>(errors.size());
    auto const mean = std::accumulate(errors.begin(), errors.end(), 0.0) / count;
    auto const squares = std::inner_product(errors.begin(), errors.end(), errors.begin(), 0.0);
    return fmt::format("{:+.1f} ± {:.1f}", mean,
                       std::sqrt(std::max(0.0, squares / count - mean * mean)));
  }

  Graph const& m_graph;
  Machine const& m_machine;
  Budgets m_budgets;
  OpenPlan m_open;
  std::vector<BlockPolicy> m_policies;
  BlockModel m_model;
  Estimator m_estimator{m_model, m_machine, 1};
  std::int64_t m_state_bytes = 0;
  std::vector<double> m_time, m_bytes;  // estimated less exact, in %
};

void print_table(int plans, unsigned seed) {
  Graph const small = gpt_training_graph(
      {.layers = 8, .hidden = 512, .heads = 8, .vocab = 8000, .sequence = 256, .micro = 8});
  Graph const large =
      gpt_training_graph({.layers = 12, .hidden = 4096, .heads = 32, .sequence = 1024, .micro = 8});
  fmt::print("| machine | updates | step | 90 % within | worst | device's bytes |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- |\n");
  for (Site const& at :
       {site("two cores, drive of 0.3 GB/s", "cpu.yaml", 0.3),
        site("two cores, drive of 3 GB/s", "cpu.yaml", 3), site("RTX 3090", "rtx3090.yaml"),
        site("A100-80", "a100-80.yaml"), site("H100", "h100.yaml"), site("GH200", "gh200.yaml")}) {
    for (bool const clips : {true, false}) {
      Errors errors(at.machine.is_unified() ? small : large, at.machine, clips);
      errors.measure(plans, seed);
      fmt::print("| {} | {} | {} |\n", at.name, clips ? "clipping" : "clip 0", errors.text());
    }
  }
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  spillway::test::print_table(argc > 1 ? std::max(1, std::atoi(argv[1])) : 150,
                              argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1);
}
