#include "plan/schedule/gradients.hpp"

#include <algorithm>

#include "graph/gradient_slice.hpp"
#include "plan/schedule/draft.hpp"

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
TensorId add_received(ProgramWriter& writer, Tensor const& gradient) {
  auto const ranks = writer.program.ranks;
  Tensor tensor;
  tensor.name = gradient.name + ".received";
  tensor.role = Role::workspace;
  tensor.dtype = gradient.dtype;
  tensor.shape = {ranks, gradient_slice(element_count(gradient.shape), 0, ranks).count};
  tensor.block = gradient.block;
  tensor.chunk = gradient.chunk;
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

// Copies a micro-batch's gradient, which this block has completed, to where the step's lies (the
// first one), or to where the lane reaches it that adds it to the step's. Returns the buffer that
// holds it then.
BufferId bring_together(Draft& draft, Chunk const& chunk, TensorId tensor, int block, bool first) {
  ProgramWriter& writer = draft.writer;
  BufferId const fresh = writer.resident(tensor);
  Lane const lane = gradient_lane(draft, chunk);
  if (first ? fresh == writer.home(tensor) : writer.reaches(lane, fresh)) return fresh;
  BufferId const there =
      first ? writer.home(tensor) : writer.add_buffer(tensor, writer.workplace(lane));
  writer.copy(fresh, there, block);
  return there;
}

// What further uses of the chunk's parameters have summed up to, in their order.
void add_further_uses(Draft& draft, Chunk const& chunk) {
  ProgramWriter& writer = draft.writer;
  auto const [first, end] = draft.parts_of_chunk.equal_range(chunk.id);
  for (auto found = first; found != end; ++found) {
    GradientPart const& part = *found->second;
    Op op = op_on_chunk(OpKind::accumulate, chunk, writer.tensor(part.tensor),
                        writer.tensor(chunk.gradient));
    op.outputs = {{chunk.gradient, part.range.first, {part.range.last - part.range.first}, {1}}};
    op.in_place = {0};
    writer.run_on(writer.add_op(std::move(op)),
                  {writer.home(part.tensor), writer.home(chunk.gradient)},
                  gradient_lane(draft, chunk));
  }
}

// A slice comes in from every other rank; their sum with this rank's own replaces that, and goes
// out again. What is of one micro-batch then joins the step's.
void begin_reduction(Draft& draft, Chunk const& chunk, BufferId gradient,
                     std::optional<MicroBatch> joins_step) {
  ProgramWriter& writer = draft.writer;
  auto const tensor = writer.buffer(gradient).tensor;
  auto const received = add_received(writer, writer.tensor(tensor));
  Op sum = op_on_chunk(OpKind::tree_sum, chunk, writer.tensor(received), writer.tensor(tensor));
  sum.in_place = {0};
  auto const buffer = writer.add_buffer(received, writer.buffer(gradient).tier);
  writer.exchange(ItemKind::all_to_all, gradient, buffer, chunk.id);
  draft.reductions.push_back(
      {chunk.id, writer.add_op(std::move(sum)), gradient, buffer, joins_step});
}

bool reduces_each(Draft const& draft) {
  return draft.writer.program.arithmetic.reduction == "each";
}

// The micro-batch's gradient joins the step's. With the last one all uses of the parameters are
// added, and summed over ranks where that was not done for every micro-batch.
void join_step(Draft& draft, Chunk const& chunk, BufferId gradient, MicroBatch const& of) {
  ProgramWriter& writer = draft.writer;
  auto const tensor = writer.buffer(gradient).tensor;
  if (!of.first) {
    writer.run_on(accumulate_op(draft, chunk, tensor), {gradient, writer.home(tensor)},
                  gradient_lane(draft, chunk));
  }
  if (!of.last || --draft.unfinished.at(chunk.id) > 0) return;
  if (!of.first) add_further_uses(draft, chunk);
  bool const reduced = !of.first && reduces_each(draft);
  if (writer.program.ranks > 1 && !reduced)
    begin_reduction(draft, chunk, writer.home(chunk.gradient), {});
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
  auto const gradient = bring_together(draft, chunk, tensor, block, micro_batch.first);
  draft.writer.forget(tensor);
  if (draft.writer.program.ranks > 1 && !one_micro_batch && reduces_each(draft))
    begin_reduction(draft, chunk, gradient, micro_batch);
  else
    join_step(draft, chunk, gradient, micro_batch);
}

void finish_reductions(Draft& draft, std::size_t count) {
  ProgramWriter& writer = draft.writer;
  for (std::size_t i = 0; i < count; ++i) {
    auto const r = draft.reductions[i];
    Chunk const& chunk = draft.graph.chunks[static_cast<std::size_t>(r.chunk)];
    writer.run_on(r.tree_sum, {r.received, r.gradient}, gradient_lane(draft, chunk));
    writer.exchange(ItemKind::all_gather, r.gradient, r.gradient, chunk.id);
    if (r.joins_step) join_step(draft, chunk, r.gradient, *r.joins_step);
  }
  draft.reductions.erase(draft.reductions.begin(),
                         draft.reductions.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace spillway
