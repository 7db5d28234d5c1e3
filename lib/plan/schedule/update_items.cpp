#include "plan/schedule/update_items.hpp"

#include <algorithm>
#include <string>

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
                                                  state.dtype, largest_slice(piece.lane));
    found->second = m_writer.add_buffer(workspace, m_writer.workplace(piece.lane));
  }
  return found->second;
}

std::int64_t UpdateItems::largest_slice(Lane lane) const {
  std::int64_t most = 0;
  for (int i = 0; i < m_shape.pieces(); ++i) {
    UpdatePiece const& p = m_shape.piece(i);
    if (p.lane == lane && p.slot >= 0) most = std::max(most, p.elements());
  }
  return most;
}

ItemNumber UpdateItems::bring(UpdatePiece const& p, TensorId tensor) {
  return m_writer.bring(tensor, p.range, m_writer.home(tensor), slot(p, tensor));
}

void UpdateItems::bring(int piece, bool late) {
  UpdatePiece const& p = m_shape.piece(piece);
  if (late && p.brings_gradient) {
    auto const item = bring(p, op(p).inputs.front().tensor);
    if (!m_shape.plan().redo) note(item, p.chunk);
  }
  for (TensorId const tensor : p.brings) {
    if ((m_writer.home_tier(tensor) == Tier::device) == late) bring(p, tensor);
  }
}

void UpdateItems::update(int piece) {
  UpdatePiece const& p = m_shape.piece(piece);
  note(run(p), p.chunk);
  for (TensorId const tensor : p.brings)
    m_writer.take_back(tensor, p.range, slot(p, tensor), m_writer.home(tensor));
}

// Appends the item that runs a piece of an update. Operands that its lane reaches are used in their
// homes, and all others in the slots to which they were brought.
ItemNumber UpdateItems::run(UpdatePiece const& p) {
  Op sliced = op(p);
  std::vector<BufferId> operands;
  auto const place = [&](View& view, bool brought) {
    BufferId const at = brought ? slot(p, view.tensor) : m_writer.home(view.tensor);
    view = {m_writer.buffer(at).tensor, brought ? 0 : p.range.first, {p.elements()}, {1}};
    operands.push_back(at);
  };
  for (View& view : sliced.inputs) {
    if (!is_present(view))
      operands.push_back(kAbsent);
    else if (m_writer.tensor(view.tensor).role == Role::gradient)
      place(view, p.brings_gradient);
    else
      operands.push_back(m_writer.resident(view.tensor));
  }
  for (View& view : sliced.outputs) {
    if (is_present(view))
      place(view, std::ranges::count(p.brings, view.tensor) > 0);
    else
      operands.push_back(kAbsent);
  }
  if (p.slot < 0) return m_writer.run_on(p.op, std::move(operands), p.lane);
  update_range(sliced) = {p.range.first};
  return m_writer.run_on(m_writer.add_op(std::move(sliced)), std::move(operands), p.lane);
}

void UpdateItems::norm(int chunk_id) {
  Chunk const& chunk = m_shape.chunk(chunk_id);
  for (int const id : m_shape.norm_ops(chunk_id)) {
    Op const& op = m_shape.graph().op(id);
    auto const norms = m_writer.resident_or_new(operands<OpKind::square_norm>(op).norms.tensor);
    m_writer.run_on(op.id, {m_writer.home(chunk.gradient), norms}, gradient_lane(chunk));
  }
}

// Sets the horizons of updates that do not run on the compute lane: the end of a later group or, in
// the next step, the first item that reads the updated parameters. The buffers of an update stay in
// use until its horizon.
void UpdateItems::set_horizons() {
  auto& items = m_writer.program.items;
  auto const next_step = static_cast<ItemNumber>(items.size());
  auto const readers = first_readers(m_writer.program);
  for (Done const& done : m_done) {
    Item& item = items[done.item];
    if (item.lane == Lane::compute) continue;
    auto const end = done.group + kGroupsBeside;
    bool const in_this_step = end < m_group_ends.size();
    auto const parameters = m_writer.home(m_shape.chunk(done.chunk).parameter);
    item.horizon = in_this_step ? m_group_ends[end] - 1 : next_step + readers[parameters];
  }
}

}  // namespace spillway
