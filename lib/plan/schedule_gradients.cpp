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
  tensor.dtype = writer.tensor(chunk.gradient).dtype;
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

// A micro-batch's gradient joins the step's where that lies.
void collect(Draft& draft, Chunk const& chunk, bool first) {
  ProgramWriter& writer = draft.writer;
  BufferId const fresh = writer.resident(chunk.gradient);
  BufferId const sum = writer.home(chunk.gradient);
  if (first) {
    if (fresh != sum) writer.copy(fresh, sum, chunk.block);
    return;
  }
  Lane const lane = gradient_lane(draft, chunk);
  BufferId operand = fresh;
  if (!writer.reaches(lane, fresh)) {
    operand = writer.add_buffer(chunk.gradient, writer.workplace(lane));
    writer.copy(fresh, operand, chunk.block);
  }
  writer.run_on(accumulate_op(draft, chunk), {operand, sum}, lane);
}

// One part comes in from every other rank; their sum with this rank's own replaces that, and goes
// out again.
Draft::Reduction begin_reduction(Draft& draft, Chunk const& chunk) {
  ProgramWriter& writer = draft.writer;
  auto const parts = add_parts(writer, chunk);
  Op sum =
      op_on_chunk(OpKind::tree_sum, chunk, writer.tensor(parts), writer.tensor(chunk.gradient));
  sum.in_place = {0};
  auto const gradient = writer.home(chunk.gradient);
  auto const received = writer.add_buffer(parts, writer.buffer(gradient).tier);
  writer.exchange(ItemKind::all_to_all, gradient, received, chunk.id);
  return {chunk.id, writer.add_op(std::move(sum)), gradient, received};
}

}  // namespace

Lane gradient_lane(Draft const& draft, Chunk const& chunk) {
  return draft.writer.home_tier(chunk.gradient) == Tier::host ? Lane::host : Lane::compute;
}

void finish_gradient(Draft& draft, int chunk_id, MicroBatch const& micro_batch) {
  Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(chunk_id)];
  collect(draft, chunk, micro_batch.first);
  draft.writer.forget(chunk.gradient);
  if (micro_batch.last && draft.writer.program.ranks > 1) {
    draft.reductions.push_back(begin_reduction(draft, chunk));
  }
}

void finish_reductions(Draft& draft, std::size_t count) {
  ProgramWriter& writer = draft.writer;
  auto const begin = draft.reductions.begin();
  auto const end = begin + static_cast<std::ptrdiff_t>(count);
  for (auto r = begin; r != end; ++r) {
    Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(r->chunk)];
    writer.run_on(r->tree_sum, {r->parts, r->gradient}, gradient_lane(draft, chunk));
    writer.exchange(ItemKind::all_gather, r->gradient, r->gradient, chunk.id);
  }
  draft.reductions.erase(begin, end);
}

}  // namespace spillway
