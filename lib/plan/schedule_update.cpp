#include <algorithm>
#include <string>
#include <tuple>

#include "plan/draft.hpp"

namespace spillway {

namespace {

// Slices that are brought before their turn, and that are still being taken back after it.
constexpr int kAhead = 2, kBehind = 2, kSlots = kAhead + 1 + kBehind;

// One AdamW item: a whole chunk, or a slice of one of which some operands must be brought.
struct Piece {
  int op = -1, chunk = -1;
  ElementRange range;
  Lane lane = Lane::compute;
  std::vector<TensorId> brought;  // of its operands
  int slot = -1;                  // where to
};

Lane update_lane(Plan const& plan, int chunk) {
  bool const on_host = plan.chunks[static_cast<std::size_t>(chunk)].update == Tier::host;
  return on_host ? Lane::host : Lane::compute;
}

class Updates {
 public:
  explicit Updates(Draft& draft) : m_draft(draft), m_writer(draft.writer) {
    for (Op const& op : draft.graph.ops) {
      if (op.kind == OpKind::adamw) cut(op);
    }
  }

  // In chunk order, which is the order in which the next forward needs them.
  void schedule() {
    for (int i = 0; i < kAhead; ++i) bring(i);
    schedule_norms();
    m_writer.commit();
    for (int i = 0; i < static_cast<int>(m_pieces.size()); ++i) {
      bring(i + kAhead);
      run(i);
    }
    set_horizons();
  }

 private:
  Piece const& piece(int i) const { return m_pieces[static_cast<std::size_t>(i)]; }

  // The gradient, then what is updated in place: every operand but `control`.
  static std::vector<TensorId> states(Op const& op) {
    std::vector<TensorId> tensors = {op.inputs.front().tensor};
    for (View const& view : op.outputs) tensors.push_back(view.tensor);
    return tensors;
  }

  void cut(Op const& op) {
    Piece piece{op.id, op.chunk, {}, update_lane(m_draft.plan, op.chunk), {}, -1};
    for (TensorId const tensor : states(op)) {
      if (!m_writer.reaches(piece.lane, m_writer.home(tensor))) piece.brought.push_back(tensor);
    }
    auto const elements = element_count(m_writer.tensor(op.inputs.front().tensor).shape);
    auto const most = piece.brought.empty() ? elements : m_draft.plan.update_slice;
    for (std::int64_t first = 0; first < elements; first += most) {
      piece.range = {first, std::min(first + most, elements)};
      if (!piece.brought.empty()) piece.slot = m_brought++ % kSlots;
      m_pieces.push_back(piece);
    }
  }

  // The buffer of a slot that takes slices of one operand; all chunks' take turns in it.
  BufferId slot(Piece const& piece, TensorId id) {
    Tensor const& state = m_writer.tensor(id);
    auto const operand = static_cast<int>(operand_of(piece, id));
    auto const [found, is_new] = m_slots.try_emplace({piece.lane, piece.slot, operand}, -1);
    if (is_new) {
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

  std::size_t operand_of(Piece const& piece, TensorId id) const {
    auto const tensors = states(m_draft.graph.ops[static_cast<std::size_t>(piece.op)]);
    return static_cast<std::size_t>(std::ranges::find(tensors, id) - tensors.begin());
  }

  std::int64_t largest_slice(Lane lane) const {
    std::int64_t most = 0;
    for (Piece const& p : m_pieces) {
      if (p.lane == lane && p.slot >= 0) most = std::max(most, p.range.last - p.range.first);
    }
    return most;
  }

  void bring(int i) {
    if (i >= static_cast<int>(m_pieces.size())) return;
    for (TensorId const tensor : piece(i).brought)
      m_writer.bring(tensor, piece(i).range, m_writer.home(tensor), slot(piece(i), tensor));
  }

  void run(int i) {
    Piece const& p = piece(i);
    Op const& original = m_draft.graph.ops[static_cast<std::size_t>(p.op)];
    if (p.brought.empty()) {
      std::vector<BufferId> operands = {m_writer.home(original.inputs[0].tensor),
                                        m_writer.resident(original.inputs[1].tensor)};
      for (View const& view : original.outputs) operands.push_back(m_writer.home(view.tensor));
      m_items.push_back({m_writer.run_on(p.op, std::move(operands), p.lane), i});
      return;
    }
    m_items.push_back({run_slice(p, original), i});
    TensorId const gradient = original.inputs[0].tensor;
    for (TensorId const tensor : p.brought) {
      if (tensor == gradient) continue;
      m_writer.take_back(tensor, p.range, slot(p, tensor), m_writer.home(tensor));
    }
  }

  // The op on one slice: of the tensors themselves where they are within reach, else of slots.
  ItemNumber run_slice(Piece const& p, Op op) {
    std::vector<BufferId> operands;
    auto const place = [&](View& view) {
      auto const size = p.range.last - p.range.first;
      bool const brought = std::ranges::count(p.brought, view.tensor) > 0;
      BufferId const at = brought ? slot(p, view.tensor) : m_writer.home(view.tensor);
      view = brought ? View{m_writer.buffer(at).tensor, 0, {size}, {1}}
                     : View{view.tensor, p.range.first, {size}, {1}};
      operands.push_back(at);
    };
    place(op.inputs[0]);
    operands.push_back(m_writer.resident(op.inputs[1].tensor));
    for (View& view : op.outputs) place(view);
    op.attributes.set("first", static_cast<double>(p.range.first));
    return m_writer.run_on(m_writer.add_op(std::move(op)), std::move(operands), p.lane);
  }

  void schedule_norms() {
    for (Op const& op : m_draft.graph.ops) {
      if (op.kind != OpKind::square_norm) continue;
      Chunk const& chunk = m_draft.graph.chunks[static_cast<std::size_t>(op.chunk)];
      auto const norms = m_writer.resident_or_new(op.outputs[0].tensor);
      m_writer.run_on(op.id, {gradient_place(m_draft, chunk), norms},
                      gradient_lane(m_draft, chunk));
    }
  }

  // The first item of a step that reads a chunk's parameters: an update beside the next forward is
  // expected to be done by then.
  ItemNumber first_reader(int chunk) {
    BufferId const home =
        m_writer.home(m_draft.graph.chunks[static_cast<std::size_t>(chunk)].parameter);
    for (Item const& item : m_writer.program.items) {
      for (Access const& read : item.reads) {
        if (read.buffer == home) return item.number;
      }
    }
    return 0;
  }

  // What the host lane updates, slots among it, is in use beside the next step's forward.
  void set_horizons() {
    auto& items = m_writer.program.items;
    auto const next_step = static_cast<ItemNumber>(items.size());
    for (auto const& [number, i] : m_items) {
      Item& item = items[static_cast<std::size_t>(number)];
      if (item.lane == Lane::host) item.horizon = next_step + first_reader(piece(i).chunk);
    }
  }

  Draft& m_draft;
  ProgramWriter& m_writer;
  std::vector<Piece> m_pieces;
  int m_brought = 0;
  std::map<std::tuple<Lane, int, int>, BufferId> m_slots;
  std::vector<std::pair<ItemNumber, int>> m_items;  // of each piece
};

}  // namespace

void schedule_update(Draft& draft) {
  Updates(draft).schedule();
}

}  // namespace spillway
