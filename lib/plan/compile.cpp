#include <stdexcept>
#include <vector>

#include "plan/passes.hpp"

namespace spillway {

namespace {

void finish(std::vector<Program*> programs) {
  layout(programs);
  for (Program* program : programs) {
    derive_waits(*program);
    // Checked in release builds too: a wrong Program would train on wrong numbers without a sign.
    if (auto const violation = verify(*program)) throw std::logic_error(violation->why);
  }
}

}  // namespace

Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks) {
  Compiled compiled{schedule(train, plan, Purpose::train, micro_batches, ranks), std::nullopt};
  std::vector<Program*> programs = {&compiled.train};
  if (eval) {
    compiled.eval = schedule(*eval, plan, eval->purpose, 1, ranks);
    programs.push_back(&*compiled.eval);
  }
  finish(programs);
  return compiled;
}

Program compile_inference(Graph const& graph, std::int64_t ranks) {
  auto program = schedule(graph, {}, graph.purpose, 1, ranks);
  finish({&program});
  return program;
}

}  // namespace spillway
