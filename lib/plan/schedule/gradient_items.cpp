#include "plan/schedule/gradient_items.hpp"

#include "graph/gradient_slice.hpp"

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
  op.in_place = {0};
  return op;
}

}  // namespace

void GradientItems::forget() {
  for (Chunk const& chunk : m_draft.graph.chunks) {
    if (chunk.trainable) m_draft.writer.forget(chunk.gradient);
  }
  for (GradientPart const& part : m_draft.graph.parts) m_draft.writer.forget(part.tensor);
}

void GradientItems::collect(GradientId gradient, Station const& at) {
  bool const first = at.batch.first;
  ProgramWriter& writer = m_draft.writer;
  auto const tensor = m_shape.tensor(gradient);
  BufferId const fresh = writer.resident(tensor);
  Lane const lane = gradient_lane(m_draft, m_draft.chunk(gradient.chunk));
  auto& there = m_collected[{tensor, at.batch.member}] = fresh;
  writer.forget(tensor);
  if (first ? fresh == writer.home(tensor) : writer.reaches(lane, fresh)) return;
  there = first ? writer.home(tensor) : writer.add_buffer(tensor, writer.workplace(lane));
  writer.copy(fresh, there, at.block);
}

int GradientItems::accumulate_op(Chunk const& chunk, TensorId tensor) {
  auto const [found, is_new] = m_accumulates.try_emplace(tensor, -1);
  if (!is_new) return found->second;
  Tensor const& gradient = m_draft.writer.tensor(tensor);
  return found->second =
             m_draft.writer.add_op(op_on_chunk(OpKind::accumulate, chunk, gradient, gradient));
}

void GradientItems::accumulate(GradientId gradient, MicroBatch const& now) {
  ProgramWriter& writer = m_draft.writer;
  Chunk const& chunk = m_draft.chunk(gradient.chunk);
  auto const tensor = m_shape.tensor(gradient);
  auto& there = m_collected.at({tensor, now.member});
  writer.run_on(accumulate_op(chunk, tensor), {there, writer.home(tensor)},
                gradient_lane(m_draft, chunk));
  there = writer.home(tensor);
}

void GradientItems::add_part(GradientId gradient) {
  ProgramWriter& writer = m_draft.writer;
  Chunk const& chunk = m_draft.chunk(gradient.chunk);
  GradientPart const& part = m_shape.part(gradient);
  Op op = op_on_chunk(OpKind::accumulate, chunk, writer.tensor(part.tensor),
                      writer.tensor(chunk.gradient));
  op.outputs = {{chunk.gradient, part.range.first, {part.range.last - part.range.first}, {1}}};
  writer.run_on(writer.add_op(std::move(op)),
                {writer.home(part.tensor), writer.home(chunk.gradient)},
                gradient_lane(m_draft, chunk));
}

void GradientItems::reduce(GradientId gradient, MicroBatch const& now) {
  ProgramWriter& writer = m_draft.writer;
  Chunk const& chunk = m_draft.chunk(gradient.chunk);
  auto const tensor = m_shape.tensor(gradient);
  BufferId const there = m_collected.at({tensor, now.member});
  auto const received =
      writer.add_tensor(received_parts(writer.tensor(tensor), writer.program.ranks));
  auto sum = tree_sum_op(chunk, writer.tensor(received), writer.tensor(tensor));
  auto const buffer = writer.add_buffer(received, writer.buffer(there).tier);
  writer.exchange(ItemKind::all_to_all, there, buffer, chunk.id);
  m_reductions[{tensor, now.member}] = {writer.add_op(std::move(sum)), buffer};
}

void GradientItems::gather(GradientId gradient, MicroBatch const& now) {
  ProgramWriter& writer = m_draft.writer;
  Chunk const& chunk = m_draft.chunk(gradient.chunk);
  auto const tensor = m_shape.tensor(gradient);
  BufferId const there = m_collected.at({tensor, now.member});
  auto const& [tree_sum, received] = m_reductions.at({tensor, now.member});
  writer.run_on(tree_sum, {received, there}, gradient_lane(m_draft, chunk));
  writer.exchange(ItemKind::all_gather, there, there, chunk.id);
}

Tensor received_parts(Tensor const& gradient, std::int64_t ranks) {
  Tensor tensor;
  tensor.name = gradient.name + ".received";
  tensor.role = Role::workspace;
  tensor.dtype = gradient.dtype;
  tensor.shape = {ranks, gradient_slice(element_count(gradient.shape), 0, ranks).count};
  tensor.block = gradient.block;
  tensor.chunk = gradient.chunk;
  return tensor;
}

Op tree_sum_op(Chunk const& chunk, Tensor const& received, Tensor const& gradient) {
  return op_on_chunk(OpKind::tree_sum, chunk, received, gradient);
}

Lane gradient_lane(Draft const& draft, Chunk const& chunk) {
  return draft.writer.home_tier(chunk.gradient) == Tier::host ? Lane::host : Lane::compute;
}

}  // namespace spillway
