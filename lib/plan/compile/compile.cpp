#include "plan/compile/compile.hpp"

#include <array>
#include <utility>
#include <vector>

#include "plan/memory/layout.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"
#include "plan/proof/verify_shared.hpp"
#include "plan/schedule/schedule.hpp"

namespace spillway {

Compiled compile_without_waits(Graph const& train, Graph const* eval, Plan const& plan,
                               std::int64_t micro_batches, std::int64_t ranks, Program spare) {
  Compiled compiled{schedule_without_links(train, plan, micro_batches, ranks, std::move(spare)),
                    std::nullopt};
  std::vector<Program*> programs = {&compiled.train};
  if (eval) {
    compiled.eval = schedule_without_links(*eval, plan, 1, ranks);
    programs.push_back(&*compiled.eval);
  }
  layout(programs);
  return compiled;
}

void prove(Compiled const& compiled) {
  prove(compiled.train);
  if (!compiled.eval) return;
  prove(*compiled.eval);
  prove_shared(std::array{&compiled.train, &*compiled.eval});
}

Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks) {
  auto compiled = compile_without_waits(train, eval, plan, micro_batches, ranks);
  auto const complete = [](Program& program) {
    link(program);
    derive_waits(program);
  };
  complete(compiled.train);
  if (compiled.eval) complete(*compiled.eval);
  prove(compiled);
  return compiled;
}

std::vector<Program> compile_inference(std::span<Graph const> graphs, std::int64_t ranks,
                                       bool unified) {
  Plan plan;
  plan.unified = unified;
  std::vector<Program> programs;
  for (Graph const& graph : graphs) programs.push_back(schedule(graph, plan, 1, ranks));
  std::vector<Program*> all;
  for (Program& program : programs) all.push_back(&program);
  layout(all);
  for (Program& program : programs) {
    derive_waits(program);
    prove(program);
  }
  prove_shared(std::vector<Program const*>(all.begin(), all.end()));
  return programs;
}

}  // namespace spillway
