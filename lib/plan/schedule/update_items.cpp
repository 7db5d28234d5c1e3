#include "plan/schedule/update_items.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/operands.hpp"

namespace spillway {

namespace {

// Returns for each buffer the first item that reads the buffer, or 0 if no item reads it.
std::vector<ItemNumber> first_readers(Program const& program) {
  std::vector<ItemNumber> readers(program.buffers.size(), 0);
  for (auto item = program.items.rbegin(); item != program.items.rend(); ++item) {
    for (Access const& read : item->reads) readers[read.buffer] = item->number;
  }
  return readers;
}

}  // namespace

// Returns the slot to which the piece's operand `id` is brought. Slots are made when first used.
BufferId UpdateItems::slot(UpdatePiece const& piece, TensorId id) {
  auto const& outputs = op(piece).outputs;
  auto const is_it = [&](View const& view) { return view.tensor == id; };
  auto const operand =
      static_cast<std::size_t>(std::ranges::find_if(outputs, is_it) - outputs.begin());
  auto const [found, is_new] = m_slots.try_emplace({piece.lane, piece.slot, operand}, -1);
  if (is_new) {
    Tensor const& state = m_writer.tensor(id);
    auto const what = state.name.substr(state.name.rfind('.'));
    auto const workspace = m_writer.add_workspace("update." + std::to_string(piece.slot) + what,
                                                  state.dtype, largest_part(piece.lane, operand));
    found->second = m_writer.add_buffer(workspace, m_writer.workplace(piece.lane));
  }
  return found->second;
}

// Returns how many elements of an output, or of the gradient behind the last one, belong to the
// largest piece of the lane that uses slots.
std::int64_t UpdateItems::largest_part(Lane lane, std::size_t operand) const {
  std::int64_t most = 0;
  for (int i = 0; i < m_shape.pieces(); ++i) {
    UpdatePiece const& p = m_shape.piece(i);
    if (p.lane != lane || p.slot < 0) continue;
    auto const& outputs = op(p).outputs;
    View const& view = operand < outputs.size() ? outputs[operand] : op(p).inputs.front();
    if (!is_present(view)) continue;
    auto const [first, last] = m_writer.of_chunk(m_writer.own(view.tensor), p.range);
    most = std::max(most, last - first);
  }
  return most;
}

ItemNumber UpdateItems::bring(UpdatePiece const& p, TensorId tensor) {
  auto const own = m_writer.own(tensor);
  return m_writer.bring(own, p.range, m_writer.home(own), slot(p, tensor));
}

void UpdateItems::bring(int piece, bool late) {
  UpdatePiece const& p = m_shape.piece(piece);
  if (late && p.brings_gradient) {
    auto const item = bring(p, op(p).inputs.front().tensor);
    if (!m_shape.plan().redo || p.lane == Lane::host) note(item, p.chunk);
  }
  for (TensorId const tensor : p.brings) {
    if ((m_writer.home_tier(m_writer.own(tensor)) == Tier::device) == late) bring(p, tensor);
  }
}

void UpdateItems::update(int piece) {
  UpdatePiece const& p = m_shape.piece(piece);
  note(run(p), p.chunk);
  for (TensorId const tensor : p.brings) {
    auto const own = m_writer.own(tensor);
    m_writer.take_back(own, p.range, slot(p, tensor), m_writer.home(own));
  }
}

// Appends the item that runs a piece of an update. Operands that its lane reaches are used in their
// homes, and all others in the slots to which they were brought.
ItemNumber UpdateItems::run(UpdatePiece const& p) {
  auto const is_gradient = [&](View const& view) {
    return is_present(view) && m_writer.tensor(view.tensor).role == Role::gradient;
  };
  auto const is_brought = [&](View const& view) {
    if (is_gradient(view)) return p.brings_gradient;
    return std::ranges::count(p.brings, view.tensor) > 0;
  };
  auto const place = [&](View const& view) {
    if (!is_present(view)) return kAbsent;
    return is_brought(view) ? slot(p, view.tensor) : m_writer.home(m_writer.own(view.tensor));
  };
  std::vector<BufferId> operands;
  for (View const& view : op(p).inputs)
    operands.push_back(!is_present(view) || is_gradient(view) ? place(view)
                                                              : m_writer.resident(view.tensor));
  for (View const& view : op(p).outputs) operands.push_back(place(view));
  if (p.slot < 0 && !p.of_slice) return m_writer.run_on(p.op, operands, p.lane);
  Op sliced = op(p);
  auto operand = operands.begin();
  auto const cut = [&](View& view, BufferId at) {
    auto const [first, last] = m_writer.of_chunk(m_writer.own(view.tensor), p.range);
    view = {m_writer.buffer(at).tensor, is_brought(view) ? 0 : first, {last - first}, {1}};
  };
  for (View& view : sliced.inputs) {
    auto const at = *operand++;
    if (is_gradient(view)) cut(view, at);
  }
  for (View& view : sliced.outputs) {
    auto const at = *operand++;
    if (is_present(view)) cut(view, at);
  }
  update_range(sliced) = {p.range.first, p.of_slice};
  auto const item = m_writer.run_on(m_writer.add_op(std::move(sliced)), operands, p.lane);
  if (p.brings_gradient) {
    auto const gradient = op(p).inputs.front().tensor;
    m_writer.read_brought(item, m_writer.own(gradient), p.range, slot(p, gradient));
  }
  return item;
}

void UpdateItems::norm(int chunk_id) {
  Chunk const& chunk = m_shape.chunk(chunk_id);
  for (int const id : m_shape.norm_ops(chunk_id)) {
    Op const& op = m_shape.graph().op(id);
    auto const norms = m_writer.resident_or_new(operands<OpKind::square_norm>(op).norms.tensor);
    auto const own = m_writer.own(chunk.gradient);
    int const run = own == chunk.gradient ? op.id : norm_of_slice(op, own);
    auto const sum = whole_sum(chunk);
    m_writer.run_on(run, {sum, norms}, op_lane(m_writer.buffer(sum).tier));
  }
}

// Adds the op that computes the norm of this rank's slice, which the other ranks do not know yet.
int UpdateItems::norm_of_slice(Op const& whole, TensorId slice) {
  Op op = whole;
  op.inputs = {spillway::whole(m_writer.tensor(slice))};
  update_range(op).of_slice = true;
  m_norms_to_gather = true;
  return m_writer.add_op(std::move(op));
}

void UpdateItems::gather_norms() {
  if (!std::exchange(m_norms_to_gather, false)) return;
  auto const norms = m_writer.resident(m_shape.graph().known.norms);
  m_writer.exchange(ItemKind::all_gather, norms, norms, -1);
}

// Ranks exchange parameters where the comm lane reaches them.
void UpdateItems::gather_parameters(int chunk_id) {
  if (m_shape.plan().chunks[chunk_id].shard == Shard::all) return;  // each fetch gathers them
  Chunk const& chunk = m_shape.chunk(chunk_id);
  auto const slice = m_writer.own(chunk.parameter);
  constexpr bool if_committed = true;  // else a slice that could not be read would be sent to all
  m_sent[chunk_id] = m_writer.next();
  gather_from_ranks(slice, chunk, m_writer.home(chunk.parameter), if_committed);
}

// Gathers the chunk's parameters from the ranks that share it out, and brings them to `there`.
void UpdateItems::gather_from_ranks(TensorId slice, Chunk const& chunk, BufferId there,
                                    bool if_committed) {
  auto const comm = m_writer.workplace(Lane::comm);
  BufferId from = m_writer.home(slice), to = there;
  if (!m_writer.reaches(Lane::comm, from)) {
    from = m_writer.add_buffer(slice, comm);
    m_writer.copy(m_writer.home(slice), from, chunk.block, if_committed);
  }
  if (!m_writer.reaches(Lane::comm, there)) to = m_writer.add_buffer(chunk.parameter, comm);
  m_writer.exchange(ItemKind::all_gather, from, to, chunk.id, if_committed);
  if (to == there) return;
  // Two buffers take turns, so that one chunk is gathered while the one before is copied.
  auto const segment = m_writer.program.segments.size();
  auto const copied = m_writer.copy(to, there, chunk.block, if_committed);
  if (m_gathered.segment == segment) m_writer.program.items[m_gathered.copied].horizon = copied;
  m_gathered = {copied, segment};
}

// Sets the horizons of updates that do not run on the compute lane: the end of a later group, the
// first item that sends the updated parameters to other ranks or, in the next step, the first one
// that reads them. The buffers of an update stay in use until its horizon.
void UpdateItems::set_horizons() {
  auto& items = m_writer.program.items;
  auto const next_step = static_cast<ItemNumber>(items.size());
  auto const readers = first_readers(m_writer.program);
  for (Done const& done : m_done) {
    Item& item = items[done.item];
    if (item.lane == Lane::compute) continue;
    auto const end = done.group + kGroupsBeside;
    bool const in_this_step = end < m_group_ends.size();
    if (auto const sent = m_sent.find(done.chunk); sent != m_sent.end()) {
      item.horizon = std::max(item.number, sent->second);
      continue;
    }
    auto const parameters = m_writer.home(m_writer.own(m_shape.chunk(done.chunk).parameter));
    item.horizon = in_this_step ? m_group_ends[end] - 1 : next_step + readers[parameters];
  }
}

}  // namespace spillway
