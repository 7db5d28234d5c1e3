// What becomes of plans and questions that are drawn at random: the Programs, their forecasts and
// estimates, and the answers. A change of any of them shows here.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <span>

#include "base/checksum.hpp"
#include "plan/listing/listing.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/critical_path.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::drawn_plans_test {
namespace {

std::string sum(std::string const& text) {
  return checksum_text(checksum(std::as_bytes(std::span(text))));
}

// With a device's own memory or without, and with ranks on several nodes.
Machine machine(bool unified) {
  auto result = machine_with_slow_links();
  result.device_bytes = unified ? 0 : 1;
  result.nvme_core_s_per_gb = 0.05;
  result.item_overhead_s = 1e-5;
  result.network_gbps = 0.5;
  result.node_gbps = 2;
  result.node_ranks = 2;
  result.host_cores = 2;
  result.kind_giga_per_s = {{"host adamw", 5}};
  return result;
}

std::string path_text(Program const& program, Simulation const& simulation) {
  std::string text;
  for (auto const& lane : shares(program, critical_path(program, simulation)))
    text += fmt::format(" {} {:.6g}", name(lane.lane), lane.seconds);
  return text;
}

std::string estimates(Graph const& graph, Plan const& drawn, Machine const& machine,
                      std::int64_t micro_batches, std::int64_t ranks) {
  std::vector<BlockPolicy> policies;
  for (PolicyRow const& row : kPolicyTable) policies.push_back(row.policy);
  std::string text;
  auto const model = block_model(graph, machine, policies, ranks);
  Estimator const estimator(model, machine, micro_batches);
  for (Shard const shard : kShards) {
    auto plan = drawn;
    for (ChunkPlan& chunk : plan.chunks) chunk.shard = shard;
    auto const sums = estimator.sums(plan);
    text += fmt::format("  {}: {:.6g} s, {} bytes, busy {:.6g}, asked {:.6g}, moved {}\n",
                        word(shard), estimator.step_s(plan), fmt::join(estimator.peaks(plan), " "),
                        fmt::join(sums.busy_s, " "), fmt::join(sums.asked_s, " "),
                        fmt::join(sums.moved_bytes, " "));
  }
  return text;
}

TEST(DrawnPlans, become_the_programs_of_the_table) {
  std::string seen =
      "# of each drawn plan: items, checksums of the Programs to train and to evaluate, its step "
      "and what lanes take of it; then estimates for each sharding\n";
  for (unsigned seed = 0; seed < 36; ++seed) {
    Random draws(seed);
    auto const shape = random_shape(draws);
    auto const graph = gpt_training_graph(shape), eval = gpt_graph(shape, Purpose::eval);
    auto const plan = random_plan(graph, draws);
    auto const micro_batches = 1 + below(draws, 4), ranks = 1 + below(draws, 3);
    auto const compiled = compile(graph, &eval, plan, micro_batches, ranks);
    auto const on = machine(plan.unified);
    auto const simulation = simulate(compiled.train, on);
    seen += fmt::format("{}: {} items {} {}, {:.6g} s,{}\n", seed, compiled.train.items.size(),
                        sum(to_json(compiled.train)), sum(to_json(*compiled.eval)),
                        simulation.step_s, path_text(compiled.train, simulation));
    seen += estimates(graph, plan, on, micro_batches, ranks);
  }
  expect_frozen("drawn_plans.txt", seen);
}

// From plenty to less than there can be, in one tier or in all of them.
TEST(DrawnQuestions, have_the_answers_of_the_table) {
  std::string seen = "# of each question: its answer, plans that were looked at and compiled\n";
  for (unsigned seed = 0; seed < 12; ++seed) {
    Random draws(seed);
    auto shape = random_shape(draws);
    shape.layers += seed % 2 == 0 ? 0 : 8;
    auto const graph = gpt_training_graph(shape);
    auto const on = machine(below(draws, 2) == 0);
    PlanWords request;
    request.norm_is_awaited = below(draws, 2) == 0;
    auto const plan = make_plan(graph, request);
    auto const all = compile_without_waits(graph, nullptr, plan, 2, 1).train.peak_bytes[0];
    for (int const percent : {90, 65, 45, 5}) {
      Budgets budgets{all * percent / 100, 0, 0};
      if (seed % 3 != 0) budgets.host_bytes = all / (1 + below(draws, 8));
      if (seed % 3 != 1) budgets.nvme_bytes = all;
      auto const answer = solve({graph, nullptr, request, budgets, on, 2, 1});
      seen += fmt::format("{} {} %: {} looked at, {} compiled, ", seed, percent, answer.estimated,
                          answer.compiled);
      seen += answer.chosen ? fmt::format("{} {:.6g} s\n", sum(to_yaml(answer.chosen->plan, graph)),
                                          answer.chosen->step_s)
                            : describe(answer.smallest, graph, budgets, 1) + "\n";
    }
  }
  expect_frozen("drawn_questions.txt", seen);
}

}  // namespace
}  // namespace spillway::test::drawn_plans_test
