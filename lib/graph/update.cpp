#include "graph/build.hpp"

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

View whole_of(Graph const& graph, TensorId id) {
  return whole(graph.tensors[id]);
}

void append_square_norm(Graph& graph, Chunk const& chunk) {
  auto const ranks = graph.arithmetic.ranks;
  Op op;
  set_operands(op, Operands<OpKind::square_norm>{
                       .gradient = whole_of(graph, chunk.gradient),
                       .norms = {graph.known.norms, chunk.norm * ranks, {ranks}, {1}}});
  op.attributes = UpdateRange{};
  append_update_op(graph, chunk, std::move(op));
}

void append_adamw(Graph& graph, Chunk const& chunk, AdamWSettings const& settings) {
  auto const remainder = chunk.state("remainder");
  Op op;
  set_operands(
      op, Operands<OpKind::adamw>{.gradient = whole_of(graph, chunk.gradient),
                                  .control = whole_of(graph, graph.known.control),
                                  .parameter = whole_of(graph, chunk.parameter),
                                  .remainder = remainder >= 0 ? whole_of(graph, remainder) : View{},
                                  .m = whole_of(graph, chunk.state("m")),
                                  .v = whole_of(graph, chunk.state("v"))});
  for (int i = 0; i < static_cast<int>(op.outputs.size()); ++i) {
    if (is_present(op.outputs[static_cast<std::size_t>(i)])) op.in_place.push_back(i);
  }
  op.attributes = AdamWAttributes{
      settings.beta1, settings.beta2, settings.eps, settings.weight_decay, {}, graph.seed};
  append_update_op(graph, chunk, std::move(op));
}

}  // namespace

// Adds updates in the order of chunk numbers, in which the next forward pass needs the parameters.
void append_update(Graph& graph, AdamWSettings const& settings) {
  for (auto const& chunk : graph.chunks) {
    if (chunk.trainable) append_square_norm(graph, chunk);
  }
  for (auto const& chunk : graph.chunks) {
    if (chunk.trainable) append_adamw(graph, chunk, settings);
  }
}

}  // namespace spillway
