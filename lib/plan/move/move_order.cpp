#include "plan/move/move_order.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "plan/data/reach.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {
namespace {

// A SlotShape is a size and a number of slots. The first shape for which there is room is used.
struct SlotShape {
  std::int64_t bytes;
  int count;
};
constexpr SlotShape kSlotShapes[] = {{4 * kPieceBytes, 4}, {kPieceBytes, 4}, {kPieceBytes, 1}};

// Returns whether two tensors share bytes if they lie at places `a` and `b`.
bool overlap(Spot const& a, std::int64_t a_bytes, Spot const& b, std::int64_t b_bytes) {
  return a.tier == b.tier && a.offset < b.offset + footprint_bytes(b_bytes, b.tier) &&
         b.offset < a.offset + footprint_bytes(a_bytes, a.tier);
}

class Orderer {
 public:
  Orderer(std::vector<Relocation> const& relocations, TierBytes const& limits, bool unified)
      : m_tensors(relocations), m_limits(limits), m_unified(unified) {}

  std::optional<MoveOrder> run() {
    if (!find_slots()) return std::nullopt;
    while (!std::ranges::all_of(m_tensors, is_done))
      if (!move_what_can() && !park_one()) return std::nullopt;
    return std::move(m_order);
  }

 private:
  static bool is_done(Relocation const& tensor) { return tensor.from == tensor.to; }

  bool find_slots() {
    std::int64_t largest = 0;
    for (Relocation const& tensor : m_tensors)
      if (needs_slots(tensor, m_unified)) largest = std::max(largest, tensor.bytes);
    if (largest == 0) return true;
    for (auto const& shape : kSlotShapes) {
      auto const bytes = std::min(shape.bytes, round_up(largest, kPageBytes));
      for (Tier const tier : {Tier::device, Tier::host}) {
        if (tier == Tier::device && !m_unified) continue;  // the drive must reach the slots
        auto const offset = gap(tier, bytes * shape.count);
        if (!offset) continue;
        m_order.slots = {tier, *offset};
        m_order.slot_bytes = bytes;
        m_order.slot_count = shape.count;
        return true;
      }
    }
    return false;
  }

  bool move_what_can() {
    bool moved = false;
    for (Relocation& tensor : m_tensors) {
      auto const is_in_the_way = [&](auto const& other) { return blocks(other, tensor); };
      if (is_done(tensor) || std::ranges::any_of(m_tensors, is_in_the_way)) continue;
      hop(tensor, tensor.to);
      moved = true;
    }
    return moved;
  }

  // Returns whether `tensor` lies where `other` shall go.
  static bool blocks(Relocation const& tensor, Relocation const& other) {
    return &other != &tensor && overlap(tensor.from, tensor.bytes, other.to, other.bytes);
  }

  // Moves a tensor that blocks another one into a gap. The smallest such tensor that fits is moved.
  bool park_one() {
    std::vector<Relocation*> in_the_way;
    for (Relocation& tensor : m_tensors) {
      auto const is_blocked = [&](auto const& other) {
        return !is_done(other) && blocks(tensor, other);
      };
      if (!is_done(tensor) && std::ranges::any_of(m_tensors, is_blocked))
        in_the_way.push_back(&tensor);
    }
    std::ranges::stable_sort(in_the_way, {}, &Relocation::bytes);
    for (Relocation* tensor : in_the_way) {
      auto const& [bytes, from, to] = *tensor;
      for (Tier const tier : kTiersInOrder) {
        auto const offset = gap(tier, bytes);
        if (!offset) continue;
        Spot const parked = {tier, *offset};
        bool const direct = !needs_slots({bytes, from, parked}, m_unified) &&
                            !needs_slots({bytes, parked, to}, m_unified);
        if (!direct) continue;
        hop(*tensor, parked);
        return true;
      }
    }
    return false;
  }

  void hop(Relocation& tensor, Spot const& to) {
    m_order.hops.push_back({static_cast<int>(&tensor - m_tensors.data()), tensor.from, to});
    tensor.from = to;
  }

  // Returns the lowest offset of bytes that no tensor takes, now or later, or nothing.
  std::optional<std::int64_t> gap(Tier tier, std::int64_t bytes) const {
    auto const footprint = footprint_bytes(bytes, tier);
    std::int64_t offset = 0;
    for (auto const& [first, last] : taken_in(tier)) {
      if (first >= offset + footprint) break;
      if (last > offset) offset = round_up(last, alignment_bytes(bytes, tier));
    }
    if (offset + footprint > m_limits[tier]) return std::nullopt;
    return offset;
  }

  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Ranges taken_in(Tier tier) const {
    Ranges taken;
    auto const add = [&](Spot const& at, std::int64_t bytes) {
      if (at.tier == tier && bytes > 0)
        taken.emplace_back(at.offset, at.offset + footprint_bytes(bytes, tier));
    };
    for (auto const& [bytes, from, to] : m_tensors) {
      add(from, bytes);
      add(to, bytes);
    }
    add(m_order.slots, m_order.slot_bytes * m_order.slot_count);
    std::ranges::sort(taken);
    return taken;
  }

  std::vector<Relocation> m_tensors;  // a Relocation's `from` is where its tensor is at the moment
  TierBytes const& m_limits;
  bool m_unified;
  MoveOrder m_order;
};

}  // namespace

bool needs_slots(Relocation const& relocation, bool unified) {
  auto const& [bytes, from, to] = relocation;
  if (from == to) return false;
  bool const in_storage = from.tier == Tier::nvme && to.tier == Tier::nvme;
  return in_storage || is_staged(from.tier, to.tier, unified) || overlap(from, bytes, to, bytes);
}

std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits, bool unified) {
  return Orderer(relocations, limits, unified).run();
}

}  // namespace spillway
