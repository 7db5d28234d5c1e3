// What deciding and walking cost, apart from what items do: kernels here return at once.
//   build/bin/spillway_bench_engine
// `s/item` is the engine's own time for an item, or the planner's; tests/bench/instructions.sh
// counts instructions instead, which do not depend on the hour.
#include "runtime/engine.hpp"

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>

#include "comm/comm.hpp"
#include "device/host/host_device.hpp"
#include "kernels/exec.hpp"
#include "plan/proof/verify.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kMicroBatches = 2;

Graph graph_of(std::int64_t layers) {
  auto config = test::tiny_config();
  config.model.layers = layers;
  return test::tiny_training_graph(config);
}

Program compiled(Graph const& graph, BlockPolicy activations, char const* update) {
  return compile(graph, nullptr,
                 make_plan(graph, test::PlanWords{.activations = {"auto"}, .update = {update}},
                           activations),
                 kMicroBatches, 1)
      .train;
}

// Not inlined: instructions.sh counts between their begin and end.
[[gnu::noinline]] Compiled plan_once(Graph const& graph) {
  auto const plan = make_plan(graph, test::PlanWords{.activations = {"auto"}}, BlockPolicy::nvme);
  return compile_without_waits(graph, nullptr, plan, kMicroBatches, 1);
}
[[gnu::noinline]] bool prove_once(Program const& program) {
  return verify(program).has_value();
}

Launch bind_nothing(KernelContext const&, Op const&) {
  return [](Exec const&, void* const*) {};
}
Kernel nothing(OpKind) {
  return {bind_nothing, bind_nothing};
}

class NoBatches final : public BatchSource {
  void load(std::int64_t, std::int64_t, BatchBuffers const&) override {}
};

void per_item(benchmark::State& state, std::size_t items) {
  state.counters["items"] = static_cast<double>(items);
  state.counters["s/item"] =
      benchmark::Counter(static_cast<double>(items) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void step(benchmark::State& state, BlockPolicy activations, char const* update) {
  auto const graph = graph_of(state.range(0));
  auto const program = compiled(graph, activations, update);
  auto const& peak = program.peak_bytes;
  Tiers tiers(host_device(), peak, nullptr);
  auto const comm = make_single_rank_comm();
  NoBatches batches;
  auto const decide = [](CommitSums const&) { return CommitDecision{}; };
  Engine engine({program, tiers, KernelTable(nothing), *comm, batches, decide});
  std::int64_t number = 0;
  for (auto _ : state) engine.run_step(number++);
  engine.finish();
  per_item(state, engine.last_step_times().size());
}

void plan(benchmark::State& state) {
  auto const graph = graph_of(state.range(0));
  std::size_t items = 0;
  for (auto _ : state) items = plan_once(graph).train.items.size();
  per_item(state, items);
}

void prove(benchmark::State& state) {
  auto const graph = graph_of(state.range(0));
  auto const program = compiled(graph, BlockPolicy::nvme, "device");
  for (auto _ : state) benchmark::DoNotOptimize(prove_once(program));
  per_item(state, program.items.size());
}

// Numbers of rounds are fixed, so that instructions can be counted.
BENCHMARK_CAPTURE(step, one_lane, BlockPolicy::keep, "device")->Arg(48)->Iterations(200);
BENCHMARK_CAPTURE(step, recompute, BlockPolicy::recompute, "device")->Arg(48)->Iterations(200);
BENCHMARK_CAPTURE(step, host_update, BlockPolicy::keep, "host")
    ->Arg(48)
    ->UseRealTime()
    ->Iterations(200);
BENCHMARK(plan)->Arg(12)->Arg(48)->Iterations(10)->Unit(benchmark::kMillisecond);
BENCHMARK(prove)->Arg(12)->Arg(48)->Iterations(10)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
