#include "plan/move/move.hpp"

#include <algorithm>
#include <map>

#include "base/check.hpp"
#include "base/math.hpp"
#include "plan/move/move_order.hpp"
#include "plan/proof/derive.hpp"
#include "plan/proof/verify.hpp"

namespace spillway {
namespace {

// Tensors move in slices of whole pieces of the spill file, because each piece has one checksum.
constexpr std::int64_t kSliceBytes = std::int64_t{16} << 20;

std::map<TensorId, Buffer const*> state_of(Program const& program) {
  std::map<TensorId, Buffer const*> state;
  for (Buffer const& buffer : program.buffers)
    if (buffer.persistent) state[buffer.tensor] = &buffer;
  return state;
}

class MoveWriter {
 public:
  MoveWriter(Program const& from, Program const& to) {
    m_program.ranks = from.ranks;
    m_program.unified = from.unified;
    m_program.tensors = from.tensors;
    m_program.chunks = from.chunks;
    m_program.arithmetic = from.arithmetic;
    m_program.once = true;
    for (Tier const tier : kTiersInOrder)
      m_program.peak_bytes[tier] = std::max(from.peak_bytes[tier], to.peak_bytes[tier]);
    auto const goals = state_of(to);
    for (auto const& [tensor, buffer] : state_of(from)) {
      auto const& goal = *goals.at(tensor);
      check(goal.bytes == buffer->bytes, buffer->name, "has another size in the new Program");
      m_relocations.push_back(
          {buffer->bytes, {buffer->tier, buffer->offset}, {goal.tier, goal.offset}});
      m_now.push_back(add(*buffer, m_relocations.back().from, true));
    }
    check(goals.size() == m_relocations.size(), "a move", "the new Program keeps other tensors");
  }

  std::optional<Program> run() {
    auto const order = move_order(m_relocations, m_program.peak_bytes, m_program.unified);
    if (!order) return std::nullopt;
    for (int slot = 0; slot < order->slot_count; ++slot) m_slots.push_back(add_slot(*order, slot));
    for (Hop const& hop : order->hops) write(hop);
    m_program.segments = {{"move", 0, static_cast<ItemNumber>(m_program.items.size())}};
    link(m_program);
    derive_waits(m_program);
    prove(m_program);
    return std::move(m_program);
  }

 private:
  BufferId add(Buffer buffer, Spot const& at, bool persistent) {
    buffer.id = static_cast<BufferId>(m_program.buffers.size());
    buffer.tier = at.tier;
    buffer.offset = at.offset;
    buffer.persistent = persistent;
    buffer.spanning = !persistent;
    m_program.buffers.push_back(std::move(buffer));
    return m_program.buffers.back().id;
  }

  BufferId add_slot(MoveOrder const& order, int slot) {
    Buffer buffer;
    buffer.name = "slot";
    buffer.bytes = order.slot_bytes;
    return add(buffer, {order.slots.tier, order.slots.offset + slot * order.slot_bytes}, false);
  }

  void write(Hop const& hop) {
    auto const bytes = m_relocations[hop.relocation].bytes;
    auto const source = m_now[hop.relocation];
    auto const target = add(m_program.buffers[source], hop.to, false);
    m_now[hop.relocation] = target;
    bool const halts = needs_slots({bytes, hop.from, hop.to}, m_program.unified);
    auto const slice = halts ? m_program.buffers[m_slots[0]].bytes : kSliceBytes;
    auto const count = div_ceil(bytes, slice);
    // A tensor that moves to a higher offset, over its own old place, must move its end first.
    bool const upwards = hop.from.tier == hop.to.tier && hop.from.offset < hop.to.offset;
    for (std::int64_t n = 0; n < count; ++n) {
      auto const first = (upwards ? count - 1 - n : n) * slice;
      auto const size = std::min(slice, bytes - first);
      if (!halts) {
        copy({source, first, first + size, {}}, {target, first, first + size, {}});
        continue;
      }
      auto const slot = m_slots[m_next_slot++ % m_slots.size()];
      copy({source, first, first + size, {}}, {slot, 0, size, {}});
      copy({slot, 0, size, {}}, {target, first, first + size, {}});
    }
  }

  void copy(Access const& read, Access const& write) {
    auto const& buffers = m_program.buffers;
    Item item;
    item.number = static_cast<ItemNumber>(m_program.items.size());
    item.lane = copy_lane(buffers[read.buffer].tier, buffers[write.buffer].tier);
    item.kind = ItemKind::copy;
    item.operands = {read.buffer, write.buffer};
    item.reads = {read};
    item.writes = {write};
    m_program.items.push_back(std::move(item));
  }

  Program m_program;
  std::vector<Relocation> m_relocations;
  IdVector<BufferId> m_now;       // the buffer that holds the tensor of each Relocation now
  std::vector<BufferId> m_slots;  // the buffers through which slices move in turn
  std::size_t m_next_slot = 0;
};

}  // namespace

std::optional<Program> make_move(Program const& from, Program const& to) {
  return MoveWriter(from, to).run();
}

}  // namespace spillway
