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

// Made once per tensor and used in every segment.
int accumulate_op(Draft& draft, Chunk const& chunk, TensorId tensor) {
  auto const [found, is_new] = draft.accumulates.try_emplace(tensor, -1);
  if (!is_new) return found->second;
  Tensor const& gradient = draft.writer.tensor(tensor);
  Op op = op_on_chunk(OpKind::accumulate, chunk, gradient, gradient);
  op.in_place = {0};
  return found->second = draft.writer.add_op(std::move(op));
}

// A micro-batch's gradient, complete with this block, joins the step's where that lies.
void collect(Draft& draft, Chunk const& chunk, TensorId tensor, int block, bool first) {
  ProgramWriter& writer = draft.writer;
  BufferId const fresh = writer.resident(tensor);
  BufferId const sum = writer.home(tensor);
  if (first) {
    if (fresh != sum) writer.copy(fresh, sum, block);
    return;
  }
  Lane const lane = gradient_lane(draft, chunk);
  BufferId operand = fresh;
  if (!writer.reaches(lane, fresh)) {
    operand = writer.add_buffer(tensor, writer.workplace(lane));
    writer.copy(fresh, operand, block);
  }
  writer.run_on(accumulate_op(draft, chunk, tensor), {operand, sum}, lane);
}

// What further uses of the chunk's parameters have summed up to, in their order.
void add_further_uses(Draft& draft, Chunk const& chunk) {
  ProgramWriter& writer = draft.writer;
  for (GradientPart const& part : draft.graph.parts) {
    if (part.chunk != chunk.id) continue;
    Op op = op_on_chunk(OpKind::accumulate, chunk, writer.tensor(part.tensor),
                        writer.tensor(chunk.gradient));
    op.outputs = {{chunk.gradient, part.range.first, {part.range.last - part.range.first}, {1}}};
    op.in_place = {0};
    writer.run_on(writer.add_op(std::move(op)),
                  {writer.home(part.tensor), writer.home(chunk.gradient)},
                  gradient_lane(draft, chunk));
  }
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

void forget_gradients(Draft& draft) {
  for (Chunk const& chunk : draft.graph.chunks) {
    if (chunk.trainable) draft.writer.forget(chunk.gradient);
  }
  for (GradientPart const& part : draft.graph.parts) draft.writer.forget(part.tensor);
}

void finish_gradient(Draft& draft, TensorId tensor, int block, MicroBatch const& micro_batch) {
  auto const id = draft.writer.tensor(tensor).chunk;
  Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(id)];
  bool const one_micro_batch = micro_batch.first && micro_batch.last;
  if (one_micro_batch && tensor != chunk.gradient) return;  // another op has added it
  collect(draft, chunk, tensor, block, micro_batch.first);
  draft.writer.forget(tensor);
  if (!micro_batch.last) return;
  if (!one_micro_batch) {
    if (--draft.unfinished.at(id) > 0) return;
    add_further_uses(draft, chunk);
  }
  if (draft.writer.program.ranks > 1) draft.reductions.push_back(begin_reduction(draft, chunk));
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
