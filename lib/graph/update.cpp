#include "graph/build.hpp"
#include "graph/optimizers/update_rule.hpp"

namespace spillway {
namespace {

void append_update_op(Graph& graph, Chunk const& chunk, Op op) {
  op.id = op.origin = static_cast<int>(graph.ops.size());
  op.phase = op.kind == OpKind::square_norm ? Phase::norm : Phase::update;
  op.block = chunk.block;
  op.chunk = chunk.id;
  op.name = chunk.name + "/" + std::string(name(op.kind));
  check_operands(op);
  graph.ops.push_back(std::move(op));
}

void append_square_norm(Graph& graph, Chunk const& chunk) {
  auto const ranks = graph.arithmetic.ranks;
  Op op;
  set_operands(op, Operands<OpKind::square_norm>{
                       .gradient = whole(graph.tensors[chunk.gradient]),
                       .norms = {graph.known.norms, chunk.norm * ranks, {ranks}, {1}}});
  op.attributes = UpdateRange{};
  append_update_op(graph, chunk, std::move(op));
}

void append_optimizer(Graph& graph, Chunk const& chunk) {
  Op op = update_rule(graph.optim.name).op(graph, chunk);
  for (int i = 0; i < static_cast<int>(op.outputs.size()); ++i) {
    if (is_present(op.outputs[static_cast<std::size_t>(i)])) op.in_place.push_back(i);
  }
  append_update_op(graph, chunk, std::move(op));
}

}  // namespace

// Adds updates in the order of chunk numbers, in which the next forward pass needs the parameters.
void append_update(Graph& graph) {
  for (auto const& chunk : graph.chunks) {
    if (chunk.trainable) append_square_norm(graph, chunk);
  }
  for (auto const& chunk : graph.chunks) {
    if (chunk.trainable) append_optimizer(graph, chunk);
  }
}

}  // namespace spillway
