#include "plan/schedule/gradient_items.hpp"

#include "graph/sharing.hpp"

namespace spillway {

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

void GradientItems::forget() {
  for (Chunk const& chunk : m_shape.graph().chunks) {
    if (chunk.trainable) m_writer.forget(chunk.gradient);
  }
  for (GradientPart const& part : m_shape.graph().parts) m_writer.forget(part.tensor);
}

void GradientItems::bring_sum_to_visit(int chunk, Station const&) {
  auto const tensor = m_shape.chunk(chunk).gradient;
  auto const there = m_visiting[chunk] = m_writer.add_buffer(tensor, Tier::device);
  m_writer.copy(m_writer.home(tensor), there, m_shape.chunk(chunk).block);
}

void GradientItems::take_sum_home(int chunk, Station const& at) {
  auto const sum = m_visiting.at(chunk);
  auto const home = m_writer.home(m_writer.buffer(sum).tensor);
  m_collected[{m_shape.chunk(chunk).gradient, at.batch.member}] = home;
  m_writer.copy(sum, home, at.block);
}

void GradientItems::collect(GradientId gradient, Station const& at) {
  bool const first = at.batch.first;
  auto const tensor = m_shape.tensor(gradient);
  BufferId const fresh = m_writer.resident(tensor);
  Lane const lane = gradient_lane(m_shape.chunk(gradient.chunk));
  auto& there = m_collected[{tensor, at.batch.member}] = fresh;
  m_writer.forget(tensor);
  if (m_shape.sums_visit(gradient.chunk)) {
    if (first) m_visiting[gradient.chunk] = fresh;
    return;
  }
  if (first ? fresh == m_writer.home(tensor) : m_writer.reaches(lane, fresh)) return;
  there = first ? m_writer.home(tensor) : m_writer.add_buffer(tensor, m_writer.workplace(lane));
  m_writer.copy(fresh, there, at.block);
}

void GradientItems::sum(OpKind kind, Chunk const& chunk, BufferId in, BufferId out, Lane lane) {
  auto const op = op_on_chunk(kind, chunk, m_writer.tensor_of(in), m_writer.tensor_of(out));
  m_writer.run_on(m_writer.add_op(op), {in, out}, lane);
}

void GradientItems::accumulate(GradientId gradient, MicroBatch const& now) {
  auto const tensor = m_shape.tensor(gradient);
  auto& there = m_collected.at({tensor, now.member});
  Chunk const& chunk = m_shape.chunk(gradient.chunk);
  if (m_shape.sums_visit(chunk.id))
    return sum(OpKind::accumulate, chunk, there, m_visiting.at(chunk.id), Lane::compute);
  auto const total = m_shape.reduces_each(chunk.id) ? m_writer.own(tensor) : tensor;
  sum(OpKind::accumulate, chunk, there, m_writer.home(total), gradient_lane(chunk));
  there = m_writer.home(total);
}

void GradientItems::add_part(GradientId gradient, MicroBatch const&) {
  Chunk const& chunk = m_shape.chunk(gradient.chunk);
  GradientPart const& part = m_shape.part(gradient);
  Op op = op_on_chunk(OpKind::accumulate, chunk, m_writer.tensor(part.tensor),
                      m_writer.tensor(chunk.gradient));
  op.outputs = {{chunk.gradient, part.range.first, {part.range.last - part.range.first}, {1}}};
  m_writer.run_on(m_writer.add_op(std::move(op)),
                  {m_writer.home(part.tensor), m_writer.home(chunk.gradient)},
                  gradient_lane(chunk));
}

void GradientItems::reduce(GradientId gradient, MicroBatch const& now) {
  TensorOfMember const of = {m_shape.tensor(gradient), now.member};
  auto& there = m_collected.at(of);
  if (m_shape.sums_on_drive(gradient.chunk)) there = m_visiting.at(gradient.chunk);
  auto& [exchanged, received] = m_exchanges[of];
  exchanged = there;
  if (!m_writer.reaches(Lane::comm, there)) {
    exchanged = m_writer.add_buffer(of.first, m_writer.workplace(Lane::comm));
    m_writer.copy(there, exchanged, m_shape.chunk(gradient.chunk).block);
  }
  auto const parts =
      m_writer.add_tensor(received_parts(m_writer.tensor(of.first), m_writer.program.ranks));
  received = m_writer.add_buffer(parts, m_writer.buffer(exchanged).tier);
  m_writer.exchange(ItemKind::all_to_all, exchanged, received, gradient.chunk);
}

void GradientItems::sum_slice(GradientId gradient, MicroBatch const& now) {
  TensorOfMember const of = {m_shape.tensor(gradient), now.member};
  auto& [exchanged, received] = m_exchanges.at(of);
  Chunk const& chunk = m_shape.chunk(gradient.chunk);
  if (m_shape.is_shared_out(gradient.chunk)) {
    exchanged = sum_own_slice(chunk, received, now);
    if (!m_shape.has_copies(gradient.chunk)) bring_sum(chunk, exchanged, now);
    return;
  }
  Lane const lane = exchanged == m_collected.at(of) ? gradient_lane(chunk) : Lane::host;
  sum(OpKind::tree_sum, chunk, received, exchanged, lane);
}

BufferId GradientItems::sum_own_slice(Chunk const& chunk, BufferId received,
                                      MicroBatch const& now) {
  auto const slice = m_writer.own(chunk.gradient);
  auto const tier = m_writer.buffer(received).tier;
  bool const is_there = tier == m_writer.home_tier(slice) && !joins_earlier(chunk, now);
  BufferId const home = m_writer.home(slice);
  BufferId const summed = is_there ? home : m_writer.add_buffer(slice, tier);
  Op op =
      op_on_chunk(OpKind::tree_sum, chunk, m_writer.tensor_of(received), m_writer.tensor(slice));
  op.in_place.clear();
  m_writer.run_on(m_writer.add_op(std::move(op)), {received, summed}, op_lane(tier));
  return summed;
}

void GradientItems::bring_sum(Chunk const& chunk, BufferId summed, MicroBatch const& now) {
  auto const slice = m_writer.own(chunk.gradient);
  auto& there = m_collected[{chunk.gradient, now.member}] = summed;
  if (m_shape.sums_on_drive(chunk.id)) {
    m_visiting[chunk.id] = summed;
    return;
  }
  BufferId const home = m_writer.home(slice);
  if (summed == home) return;
  bool const joins = joins_earlier(chunk, now);
  if (joins && m_writer.reaches(gradient_lane(chunk), summed)) return;
  there = joins ? m_writer.add_buffer(slice, m_writer.home_tier(slice)) : home;
  m_writer.copy(summed, there, chunk.block);
}

void GradientItems::gather_gradient(GradientId gradient, MicroBatch const& now) {
  TensorOfMember const of = {m_shape.tensor(gradient), now.member};
  BufferId const there = m_collected.at(of), exchanged = m_exchanges.at(of).exchanged;
  m_writer.exchange(ItemKind::all_gather, exchanged, exchanged, gradient.chunk);
  if (m_shape.is_shared_out(gradient.chunk))
    return bring_sum(m_shape.chunk(gradient.chunk), exchanged, now);
  if (m_shape.sums_on_drive(gradient.chunk))
    m_visiting[gradient.chunk] = exchanged;
  else if (exchanged != there)
    m_writer.copy(exchanged, there, m_shape.chunk(gradient.chunk).block);
}

Tensor received_parts(Tensor const& gradient, std::int64_t ranks) {
  Tensor tensor;
  tensor.name = gradient.name + ".received";
  tensor.role = Role::workspace;
  tensor.dtype = gradient.dtype;
  tensor.shape = {ranks, Sharing{ranks}.summed(element_count(gradient.shape), 0).count};
  tensor.block = gradient.block;
  tensor.chunk = gradient.chunk;
  return tensor;
}

Lane GradientItems::gradient_lane(Chunk const& chunk) const {
  return op_lane(m_writer.home_tier(chunk.gradient));
}

BufferId GradientItems::whole_sum(Chunk const& chunk) {
  if (m_shape.sums_on_drive(chunk.id)) return m_visiting.at(chunk.id);
  return m_writer.home(m_writer.own(chunk.gradient));
}

}  // namespace spillway
