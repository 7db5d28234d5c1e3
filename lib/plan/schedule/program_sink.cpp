#include "plan/schedule/program_sink.hpp"

#include <algorithm>

namespace spillway {

void ProgramSink::begin_micro_batches(MicroBatches const& now) {
  m_spilled.clear();
  m_members = static_cast<std::size_t>(now.count);
  m_writer.begin_segment(now.segment, now.count);
  for (int member = 0; member < now.count; ++member) {
    m_writer.take_up(member);
    m_writer.load_batch();
  }
  begin_pass();
}

void ProgramSink::enter(Station const& at) {
  m_writer.take_up(at.batch.member);
  m_passed.push_back({m_writer.next()});
  if (at.pass == Pass::backward) note_start();
}

void ProgramSink::fetch(int id, Station const&) {
  Chunk const& chunk = m_shape.chunk(id);
  BufferId const there = m_writer.add_buffer(chunk.parameter, Tier::device);
  auto const own = m_writer.own(chunk.parameter);
  bool const gathers = m_shape.plan().chunks[id].shard == Shard::all && own != chunk.parameter;
  if (gathers)
    gather_from_ranks(own, chunk, there);
  else
    m_writer.copy(m_writer.home(chunk.parameter), there, chunk.block);
  m_writer.set_resident(chunk.parameter, there);
}

void ProgramSink::commit(bool knows_norms) {
  if (knows_norms) gather_norms();
  m_writer.commit(knows_norms);
}

void ProgramSink::report() {
  gather_norms();
  m_writer.report();
}

void ProgramSink::drop(int chunk, Station const&) {
  m_writer.forget(m_shape.chunk(chunk).parameter);
}

void ProgramSink::forward(Station const& at, int piece) {
  auto const op = m_shape.forward_op(at.block, piece);
  m_passed.back().last_op = m_writer.run(variant(op, at.batch.first));
}

void ProgramSink::leave(Station const& at, TensorId tensor) {
  Tier const tier = m_shape.fates().of(tensor) == Fate::host ? Tier::host : Tier::nvme;
  auto const bytes = m_shape.fates().away_bytes[tensor];
  BufferId const away = m_spilled[{tensor, at.batch.member}] =
      m_writer.add_buffer(tensor, tier, bytes);
  m_writer.copy_end(m_writer.resident(tensor), away, at.block);
}

void ProgramSink::turn(MicroBatches const& now) {
  set_leaving_horizons();
  for (int member = 0; member < now.count; ++member) {
    m_writer.take_up(member);
    if (!now[member].first) forget();
  }
  m_op_starts.emplace_back();
  m_backward_ops = 0;
  begin_pass();
}

// Copies a spilled tensor back to the device. A tensor that was spilled whole gets a new buffer. If
// only a part of a tensor was spilled, the part returns to the buffer that it has left.
void ProgramSink::reload(Station const& at, TensorId tensor, int member) {
  note_start();
  m_writer.take_up(member);
  int const block = m_shape.fates().readers[tensor].front();
  BufferId const away = m_spilled.at({tensor, member});
  bool const whole = m_writer.buffer(away).bytes == m_writer.tensor(tensor).bytes();
  BufferId const back =
      whole ? m_writer.add_buffer(tensor, Tier::device) : m_writer.resident(tensor);
  m_writer.copy_end(away, back, block);
  m_writer.set_resident(tensor, back);
  m_writer.take_up(at.batch.member);
}

// Notes that the next backward op begins with the next item, unless a beginning is noted already.
void ProgramSink::note_start() {
  auto& starts = m_op_starts.back();
  if (starts.size() == m_backward_ops) starts.push_back(m_writer.next());
}

void ProgramSink::backward(Station const& at, int piece) {
  note_start();
  ++m_backward_ops;
  if (piece == 0) repeat_forward_ops(at.block);
  int const op = m_shape.backward_op(at.group, piece);
  if (m_shape.is_left_out(op)) return;
  m_passed.back().last_op = m_writer.run(variant(op, at.batch.first));
}

// Returns the variant of an op for the first micro-batch, which overwrites the loss, or for a later
// one, which adds to it. If an op makes a part of a gradient, its variants only write the part.
int ProgramSink::variant(int id, bool first) {
  auto const& graph = m_shape.graph();
  auto const loss = graph.known.loss;
  bool const tells_loss = loss >= 0 && writes(graph.op(id), loss);
  if (!tells_loss && !m_shape.makes_part(id)) return id;
  auto const [found, is_new] = m_variants.try_emplace({id, first}, -1);
  if (!is_new) return found->second;
  Op op = graph.op(id);
  if (tells_loss) set_in_place(op, loss, !first);
  for (std::size_t output = 0; output < op.outputs.size(); ++output) {
    auto const* const part = m_shape.part_written(id, output);
    View& view = op.outputs[output];
    if (part == nullptr || view.tensor == part->tensor) continue;
    view.tensor = part->tensor;  // the op writes the part instead of adding it to the gradient
    view.offset -= part->range.first;
    std::erase(op.in_place, part->output);
  }
  return found->second = m_writer.add_op(std::move(op));
}

// Runs forward ops again with new buffers, since the buffers of the forward pass are in other use.
void ProgramSink::repeat_forward_ops(int block) {
  auto const& repeats = m_shape.fates().repeats[block];
  for (int const op : repeats) {
    for (View const& view : present(m_shape.graph().op(op).outputs)) m_writer.forget(view.tensor);
  }
  for (int const op : repeats) m_writer.run(op);
}

// Says whether the item copies a gradient.
bool ProgramSink::copies_gradient(Item const& item) const {
  return item.kind == ItemKind::copy &&
         m_writer.tensor_of(item.operands.front()).role == Role::gradient;
}

// Says whether micro-batches that walk together copy their gradients of the chunk once: as a sum
// that visits the device, or for a sum over ranks that is made once a step.
bool ProgramSink::copies_once(int chunk) const {
  bool const reduces_once = m_shape.exchanges() && !m_shape.reduces_each(chunk) &&
                            m_shape.plan().chunks[chunk].gradients == Tier::device;
  return m_shape.sums_visit(chunk) || reduces_once;
}

// Sets the horizon of every copy that takes bytes away from the device to the end of the pass of
// the next station, or for gradients that are copied once to when all micro-batches that walk
// together have passed the next one. What gradients use on the host, when they are added there or
// on their way back from other ranks, stays for one station more, since the next one is copied
// there when the pass of the next station has ended. After the last station it stays until all sums
// have ended; they would wait for each other if one got the bytes of another.
void ProgramSink::set_leaving_horizons() {
  bool const overlaps = m_shape.plan().exchanges_overlap && !m_shape.plan().unified;
  for (std::size_t s = 0; s < m_passed.size(); ++s) {
    auto const end = s + 1 < m_passed.size() ? m_passed[s + 1].first : m_writer.next();
    for (auto i = m_passed[s].first; i < end; ++i) {
      Item& item = m_writer.program.items[i];
      bool const leaves = item.lane == Lane::nvme_write || item.lane == Lane::d2h;
      bool const of_gradient = copies_gradient(item);
      bool const sends = item.kind == ItemKind::all_to_all && overlaps;
      bool const sums = of_gradient || sends || item.lane == Lane::host;
      if (!sends && (item.block < 0 || !(leaves || sums))) continue;
      bool const once =
          (of_gradient || sends) && copies_once(m_writer.tensor_of(item.operands.front()).chunk);
      auto const until = s + (once ? m_members : 1) + (leaves ? 0 : 1);
      if (until < m_passed.size())
        item.horizon = std::max(item.number, m_passed[until].last_op);
      else if (sums && overlaps)
        item.horizon = m_writer.next() - 1;
    }
  }
}

void ProgramSink::end_update() {
  m_writer.drop_spare();
  set_horizons();
  m_writer.end_segment();
}

}  // namespace spillway
