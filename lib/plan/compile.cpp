#include <fmt/core.h>

#include <stdexcept>
#include <vector>

#include "plan/lifetime.hpp"
#include "plan/passes.hpp"

namespace spillway {

namespace {

void prove(Program const& program) {
  // Checked in release builds too: a wrong Program would train on wrong numbers without a sign.
  if (auto const violation = verify(program)) throw std::logic_error(violation->why);
}

// What an update brings from NVMe and takes back.
std::vector<TensorId> state_on_nvme(Chunk const& chunk, ChunkPlan const& places) {
  std::vector<TensorId> state;
  if (places.parameters == Tier::nvme) state.push_back(chunk.parameter);
  if (places.optimizer == Tier::nvme)
    for (auto const& part : chunk.states) state.push_back(part.tensor);
  return state;
}

// A spill file would find slices of other sizes damaged.
void refuse_torn_pieces(Graph const& graph, Plan const& plan) {
  for (Chunk const& chunk : graph.chunks) {
    if (!chunk.trainable || chunk.elements <= plan.update_slice) continue;
    for (auto const id : state_on_nvme(chunk, plan.chunks[static_cast<std::size_t>(chunk.id)])) {
      auto const& tensor = graph.tensors[static_cast<std::size_t>(id)];
      auto const bytes = plan.update_slice * size_bytes(tensor.dtype);
      if (bytes % kPieceBytes == 0) continue;
      throw std::invalid_argument(
          fmt::format("update_slice: {} elements of '{}' are {} bytes, but from NVMe come whole "
                      "pieces of {}",
                      plan.update_slice, tensor.name, bytes, kPieceBytes));
    }
  }
}

}  // namespace

Compiled place(Graph const& train, Graph const* eval, Plan const& plan, std::int64_t micro_batches,
               std::int64_t ranks) {
  Compiled placed{schedule(train, plan, Purpose::train, micro_batches, ranks), std::nullopt};
  std::vector<Program*> programs = {&placed.train};
  if (eval) {
    placed.eval = schedule(*eval, plan, eval->purpose, 1, ranks);
    programs.push_back(&*placed.eval);
  }
  refuse_torn_pieces(train, plan);
  layout(programs);
  return placed;
}

void prove(Compiled const& compiled) {
  prove(compiled.train);
  if (compiled.eval) prove(*compiled.eval);
}

Compiled compile(Graph const& train, Graph const* eval, Plan const& plan,
                 std::int64_t micro_batches, std::int64_t ranks) {
  auto compiled = place(train, eval, plan, micro_batches, ranks);
  derive_waits(compiled.train);
  if (compiled.eval) derive_waits(*compiled.eval);
  prove(compiled);
  return compiled;
}

Program compile_inference(Graph const& graph, std::int64_t ranks) {
  auto program = schedule(graph, {}, graph.purpose, 1, ranks);
  Program* only = &program;
  layout({&only, 1});
  derive_waits(program);
  prove(program);
  return program;
}

}  // namespace spillway
