#include <algorithm>

#include "graph/gradient_slice.hpp"
#include "plan/draft.hpp"

namespace spillway {

namespace {

Op op_on_chunk(OpKind kind, Chunk const& chunk, Tensor const& in, Tensor const& out) {
  Op op;
  op.kind = kind;
  op.phase = Phase::backward;
  op.block = chunk.block;
  op.chunk = chunk.id;
  op.name = chunk.name + "/" + std::string(name(kind));
  op.inputs = {whole(in)};
  op.outputs = {whole(out)};
  return op;
}

// What the other ranks send of this rank's slice.
TensorId add_parts(ProgramWriter& writer, Chunk const& chunk) {
  auto const ranks = writer.program.ranks;
  Tensor tensor;
  tensor.name = chunk.name + ".parts";
  tensor.role = Role::workspace;
  tensor.dtype = writer.program.tensors[static_cast<std::size_t>(chunk.gradient)].dtype;
  tensor.shape = {ranks, gradient_slice(chunk.elements, 0, ranks).count};
  tensor.block = chunk.block;
  tensor.chunk = chunk.id;
  return writer.add_tensor(std::move(tensor));
}

// Made once per chunk and used in every segment.
int accumulate_op(Draft& draft, Chunk const& chunk) {
  auto const [found, is_new] = draft.accumulates.try_emplace(chunk.id, -1);
  if (!is_new) return found->second;
  Tensor const& gradient = draft.graph.tensors[static_cast<std::size_t>(chunk.gradient)];
  Op op = op_on_chunk(OpKind::accumulate, chunk, gradient, gradient);
  op.in_place = {0};
  return found->second = draft.writer.add_op(std::move(op));
}

// One part comes in from every other rank; their sum with this rank's own replaces that, and goes
// out again.
Draft::Reduction begin_reduction(ProgramWriter& writer, Chunk const& chunk) {
  auto const tensor = [&](TensorId id) -> Tensor const& {
    return writer.program.tensors[static_cast<std::size_t>(id)];
  };
  auto const parts = add_parts(writer, chunk);
  Op sum = op_on_chunk(OpKind::tree_sum, chunk, tensor(parts), tensor(chunk.gradient));
  sum.in_place = {0};
  writer.exchange(ItemKind::all_to_all, writer.resident(chunk.gradient),
                  writer.resident_or_new(parts), chunk.id);
  return {.chunk = chunk.id, .tree_sum = writer.add_op(std::move(sum))};
}

}  // namespace

void finish_gradient(Draft& draft, int chunk_id, MicroBatch const& micro_batch) {
  Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(chunk_id)];
  ProgramWriter& writer = draft.writer;
  if (!micro_batch.first) {
    int const op = accumulate_op(draft, chunk);
    BufferId const fresh = writer.resident(chunk.gradient);
    BufferId const sum = writer.set_spanning_resident(chunk.gradient);
    writer.run_on(op, {fresh, sum}, Lane::compute);
  }
  if (micro_batch.last && writer.program.ranks > 1) {
    draft.reductions.push_back(begin_reduction(writer, chunk));
  }
}

void finish_reductions(Draft& draft, std::size_t count) {
  ProgramWriter& writer = draft.writer;
  auto const begin = draft.reductions.begin();
  auto const end = begin + static_cast<std::ptrdiff_t>(count);
  for (auto r = begin; r != end; ++r) {
    Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(r->chunk)];
    writer.run(r->tree_sum);
    auto const gradient = writer.resident(chunk.gradient);
    writer.exchange(ItemKind::all_gather, gradient, gradient, chunk.id);
  }
  draft.reductions.erase(begin, end);
}

}  // namespace spillway
