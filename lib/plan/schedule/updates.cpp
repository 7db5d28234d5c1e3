#include "plan/schedule/updates.hpp"

#include <algorithm>
#include <string>

#include "plan/schedule/gradients.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

std::vector<int> joined(std::vector<std::vector<int>> const& lists) {
  std::vector<int> all;
  for (auto const& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// All at the end, in chunk order, which is the order in which the next forward needs them.
std::vector<std::vector<int>> all_late(Draft const& draft) {
  std::vector<std::vector<int>> chunks(draft.groups.size() + 1);
  for (Chunk const& chunk : draft.graph.chunks) {
    if (chunk.trainable) chunks.back().push_back(chunk.id);
  }
  return chunks;
}

std::multimap<int, int> norm_ops(Graph const& graph) {
  std::multimap<int, int> ops;
  for (Op const& op : graph.ops) {
    if (op.phase == Phase::norm) ops.emplace(op.chunk, op.id);
  }
  return ops;
}

// Per buffer: the first item that reads it, 0 if none does.
std::vector<ItemNumber> first_readers(Program const& program) {
  std::vector<ItemNumber> readers(program.buffers.size(), 0);
  for (auto item = program.items.rbegin(); item != program.items.rend(); ++item) {
    for (Access const& read : item->reads)
      readers[static_cast<std::size_t>(read.buffer)] = item->number;
  }
  return readers;
}

}  // namespace

Updates::Updates(Draft& draft)
    : m_draft(draft),
      m_writer(draft.writer),
      m_loss_group(loss_group(draft)),
      m_chunks(draft.plan.redo ? all_late(draft) : chunks_by_group(draft)),
      m_pieces(update_pieces(draft, joined(m_chunks), kUpdateSlots)),
      m_norm_ops(norm_ops(draft.graph)) {}

void Updates::after_group(std::size_t group) {
  if (!early()) return;
  if (group == m_loss_group) {
    m_writer.commit(false);
    bring_ahead();
  }
  for (int const chunk : m_chunks[group]) {
    norm(chunk);
    update(chunk);
  }
  m_group_ends.push_back(m_writer.next());
}

void Updates::after_backward() {
  if (early()) {
    m_writer.report();
  } else {
    m_complete = static_cast<int>(m_pieces.size());
    bring_ahead();
    for (int const chunk : m_chunks.back()) norm(chunk);
    m_writer.commit(true);
    for (int const chunk : m_chunks.back()) update(chunk);
  }
  set_horizons();
}

Op const& Updates::op(UpdatePiece const& piece) const {
  return m_draft.graph.ops[static_cast<std::size_t>(piece.op)];
}

// The buffer of a slot that takes slices of one operand; all chunks' take turns in it.
BufferId Updates::slot(UpdatePiece const& piece, TensorId id) {
  auto const& outputs = op(piece).outputs;
  auto const is_it = [&](View const& view) { return view.tensor == id; };
  auto const operand =
      static_cast<std::size_t>(std::ranges::find_if(outputs, is_it) - outputs.begin());
  auto const [found, is_new] = m_slots.try_emplace({piece.lane, piece.slot, operand}, -1);
  if (is_new) {
    Tensor const& state = m_writer.tensor(id);
    Tensor tensor;
    auto const what = state.name.substr(state.name.rfind('.'));
    tensor.name = "update." + std::to_string(piece.slot) + what;
    tensor.role = Role::workspace;
    tensor.dtype = state.dtype;
    tensor.shape = {largest_slice(piece.lane)};
    auto const workplace = m_writer.workplace(piece.lane);
    found->second = m_writer.add_buffer(m_writer.add_tensor(std::move(tensor)), workplace);
  }
  return found->second;
}

std::int64_t Updates::largest_slice(Lane lane) const {
  std::int64_t most = 0;
  for (UpdatePiece const& p : m_pieces) {
    if (p.lane == lane && p.slot >= 0) most = std::max(most, p.elements());
  }
  return most;
}

// What the next pieces need; gradients once they are whole, and no sooner what leaves the device as
// they do: else it would wait for a slot and they for it.
void Updates::bring_ahead() {
  auto const bring = [&](UpdatePiece const& p, TensorId tensor) {
    m_writer.bring(tensor, p.range, m_writer.home(tensor), slot(p, tensor));
  };
  auto const bring_states = [&](UpdatePiece const& p, bool from_device) {
    for (TensorId const tensor : p.brings) {
      if ((m_writer.home_tier(tensor) == Tier::device) == from_device) bring(p, tensor);
    }
  };
  int const last = std::min(m_next + kSlicesAhead + 1, static_cast<int>(m_pieces.size()));
  for (; m_away_brought < last; ++m_away_brought) bring_states(piece(m_away_brought), false);
  for (; m_brought < std::min(last, m_complete); ++m_brought) {
    UpdatePiece const& p = piece(m_brought);
    if (p.brings_gradient) bring(p, op(p).inputs.front().tensor);
    bring_states(p, true);
  }
}

void Updates::update(int chunk) {
  int end = m_next;
  while (end < static_cast<int>(m_pieces.size()) && piece(end).chunk == chunk) ++end;
  m_complete = std::max(m_complete, end);
  for (; m_next < end; ++m_next) {
    bring_ahead();
    run(piece(m_next));
  }
}

void Updates::run(UpdatePiece const& p) {
  auto const item = p.slot < 0 ? run_whole(p) : run_slice(p);
  m_done.push_back({item, p.chunk, m_group_ends.size()});
  for (TensorId const tensor : p.brings)
    m_writer.take_back(tensor, p.range, slot(p, tensor), m_writer.home(tensor));
}

ItemNumber Updates::run_whole(UpdatePiece const& p) {
  Op const& original = op(p);
  std::vector<BufferId> operands = {m_writer.home(original.inputs[0].tensor),
                                    m_writer.resident(original.inputs[1].tensor)};
  for (View const& view : original.outputs)
    operands.push_back(is_present(view) ? m_writer.home(view.tensor) : kAbsent);
  return m_writer.run_on(p.op, std::move(operands), p.lane);
}

// Of the tensors themselves where they are within reach, else of slots.
ItemNumber Updates::run_slice(UpdatePiece const& p) {
  Op sliced = op(p);
  std::vector<BufferId> operands;
  auto const place = [&](View& view, bool brought) {
    BufferId const at = brought ? slot(p, view.tensor) : m_writer.home(view.tensor);
    view = brought ? View{m_writer.buffer(at).tensor, 0, {p.elements()}, {1}}
                   : View{view.tensor, p.range.first, {p.elements()}, {1}};
    operands.push_back(at);
  };
  place(sliced.inputs[0], p.brings_gradient);
  operands.push_back(m_writer.resident(sliced.inputs[1].tensor));
  for (View& view : sliced.outputs) {
    if (is_present(view)) {
      place(view, std::ranges::count(p.brings, view.tensor) > 0);
    } else {
      operands.push_back(kAbsent);
    }
  }
  update_range(sliced) = {p.range.first};
  return m_writer.run_on(m_writer.add_op(std::move(sliced)), std::move(operands), p.lane);
}

void Updates::norm(int chunk_id) {
  auto const [first, end] = m_norm_ops.equal_range(chunk_id);
  for (auto found = first; found != end; ++found) {
    Op const& op = m_draft.graph.ops[static_cast<std::size_t>(found->second)];
    Chunk const& chunk = m_draft.graph.chunks[static_cast<std::size_t>(chunk_id)];
    auto const norms = m_writer.resident_or_new(op.outputs[0].tensor);
    m_writer.run_on(op.id, {m_writer.home(chunk.gradient), norms}, gradient_lane(m_draft, chunk));
  }
}

// The first item of a step that reads a chunk's parameters: an update beside the next forward is
// expected to be done by then.
ItemNumber Updates::first_reader(int chunk) {
  if (m_first_readers.empty()) m_first_readers = first_readers(m_writer.program);
  auto const home = static_cast<std::size_t>(
      m_writer.home(m_draft.graph.chunks[static_cast<std::size_t>(chunk)].parameter));
  return home < m_first_readers.size() ? m_first_readers[home] : 0;
}

// What the host lane updates, slots among it, is in use beside the backward ops of the groups that
// come next, or beside the next step's forward.
void Updates::set_horizons() {
  auto& items = m_writer.program.items;
  auto const next_step = static_cast<ItemNumber>(items.size());
  for (Done const& done : m_done) {
    Item& item = items[static_cast<std::size_t>(done.item)];
    if (item.lane != Lane::host) continue;
    auto const end = done.group + kGroupsBeside;
    bool const in_this_step = end < m_group_ends.size();
    item.horizon = in_this_step ? m_group_ends[end] - 1 : next_step + first_reader(done.chunk);
  }
}

}  // namespace spillway
