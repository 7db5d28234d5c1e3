// These benchmarks show what the search pays to look at a plan (estimates of bytes, of a bound and
// of a step), and what a whole answer takes for more and more ranks.
//   build/bin/spillway_bench_estimates
// tests/bench/instructions.sh counts the instructions.
#include <benchmark/benchmark.h>

#include "plan/data/machine_file.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/search.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test {
namespace {

struct Estimated {
  Estimated(std::int64_t micro_batches, std::int64_t ranks)
      : graph(gpt_training_graph({.layers = 48, .hidden = 1024, .heads = 16, .sequence = 512})),
        machine(load_machine(SPILLWAY_SOURCE_DIR "/input/machines/rtx3090.yaml")),
        model(modelled(ranks)),
        estimator(model, machine, micro_batches) {
    for (char const* policy : {"keep", "light", "recompute", "host", "light+host", "host:0.5"}) {
      for (char const* parameters : {"device", "host"}) {
        for (char const* update : {"device", "host"}) {
          for (bool const awaited : {true, false})
            plans.push_back(plan(policy, parameters, update, awaited));
        }
      }
    }
  }

  Plan plan(char const* policy, char const* parameters, char const* update, bool awaited) const {
    PlanWords const words{.activations = {"keep", policy, policy, "recompute", policy},
                          .parameters = {parameters},
                          .gradients = {update},
                          .optimizer = {"device", "host"},
                          .update = {update},
                          .prefetch = 2,
                          .norm_is_awaited = awaited};
    auto result = make_plan(graph, words, BlockPolicy::keep);
    result.unified = false;
    return result;
  }
  BlockModel modelled(std::int64_t ranks) const {
    using enum BlockPolicy;
    return block_model(graph, machine, {keep, light, recompute, host, light_host}, ranks);
  }

  Graph graph;
  Machine machine;
  BlockModel model;
  Estimator estimator;
  std::vector<Plan> plans;
};

// Not inlined: instructions.sh counts between their begin and end.
[[gnu::noinline]] std::int64_t bytes_once(Estimated const& all) {
  std::int64_t sum = 0;
  for (Plan const& plan : all.plans) sum += all.estimator.peaks(plan)[0];
  return sum;
}
[[gnu::noinline]] double bound_once(Estimated const& all) {
  double sum = 0;
  for (Plan const& plan : all.plans) sum += all.estimator.sums(plan).bound_s();
  return sum;
}
[[gnu::noinline]] double step_once(Estimated const& all) {
  double sum = 0;
  for (Plan const& plan : all.plans) sum += all.estimator.step_s(plan);
  return sum;
}

// With half the memory that keeping everything takes.
[[gnu::noinline]] int search_once(Estimated const& all) {
  auto const open = open_plan(all.graph, {}, false);
  auto const all_bytes = all.estimator.peaks(open.plan)[index(Tier::device)];
  return search(all.estimator, open, {all_bytes / 2, std::int64_t{1} << 40, 0}).estimated;
}

template <class Once>
void estimate(benchmark::State& state, Once once) {
  Estimated const all(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(once(all));
  state.counters["items"] = static_cast<double>(all.plans.size());
}

// This is the question of tests/bench/scaling.py for Llama 3.1 8B, as a GPT: two micro-batches a
// rank.
struct Asked {
  Asked()
      : graph(gpt_training_graph({.layers = 32,
                                  .hidden = 4096,
                                  .heads = 32,
                                  .vocab = 128256,
                                  .sequence = 8192,
                                  .micro = 1})),
        machine(shared_by(load_machine(SPILLWAY_SOURCE_DIR "/input/machines/h100.yaml"), 8)) {}

  Graph graph;
  Machine machine;
};

[[gnu::noinline]] int solve_once(Asked const& asked, std::int64_t batches, std::int64_t ranks) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  return solve({asked.graph, nullptr, {}, {68 * gib, 176 * gib, 0}, asked.machine, batches, ranks})
      .estimated;
}

void answer(benchmark::State& state) {
  Asked const asked;
  int estimated = 0;
  for (auto _ : state) estimated = solve_once(asked, state.range(0), state.range(1));
  state.counters["items"] = estimated;
}

// Micro-batches, ranks. Numbers of rounds are fixed, so that instructions can be counted.
BENCHMARK_CAPTURE(estimate, search, search_once)->Args({1, 1})->Args({4, 1})->Iterations(1);
BENCHMARK_CAPTURE(estimate, bytes, bytes_once)->Args({1, 1})->Args({4, 1})->Iterations(10);
BENCHMARK_CAPTURE(estimate, bound, bound_once)->Args({1, 1})->Args({4, 1})->Iterations(10);
BENCHMARK_CAPTURE(estimate, step, step_once)
    ->Args({1, 1})
    ->Args({4, 1})
    ->Args({1, 4})
    ->Iterations(5);
BENCHMARK(answer)->Args({2, 8})->Args({2, 64})->Args({2, 512})->Args({2, 4096})->Iterations(1);

}  // namespace
}  // namespace spillway::test

BENCHMARK_MAIN();
