#include "plan/move/move_order.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {
namespace {

struct SlotShape {
  std::int64_t bytes;
  int count;
};
constexpr SlotShape kSlotShapes[] = {{4 * kPieceBytes, 4}, {kPieceBytes, 4}, {kPieceBytes, 1}};

class Orderer {
 public:
  Orderer(std::vector<Relocation> const& relocations, TierBytes const& limits)
      : m_relocations(relocations), m_limits(limits) {
    for (auto const& relocation : relocations) {
      m_now.push_back(relocation.from);
      m_done.push_back(relocation.from == relocation.to);
    }
  }

  std::optional<MoveOrder> run() {
    if (!find_slots()) return std::nullopt;
    while (std::ranges::count(m_done, false) > 0) {
      if (!move_what_can() && !park_one()) return std::nullopt;
    }
    return std::move(m_order);
  }

 private:
  bool find_slots() {
    std::int64_t largest = 0;
    for (auto const& relocation : m_relocations) {
      if (needs_slots(relocation)) largest = std::max(largest, relocation.bytes);
    }
    if (largest == 0) return true;
    for (auto const& shape : kSlotShapes) {
      auto const bytes = std::min(shape.bytes, round_up(largest, kPageBytes));
      for (Tier const tier : {Tier::device, Tier::host}) {
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
    for (std::size_t i = 0; i < m_now.size(); ++i) {
      if (m_done[i] || !is_clear(i)) continue;
      hop(i, m_relocations[i].to);
      moved = m_done[i] = true;
    }
    return moved;
  }

  // Nothing but itself lies where it goes.
  bool is_clear(std::size_t i) const {
    auto const& [bytes, from, to] = m_relocations[i];
    for (std::size_t j = 0; j < m_now.size(); ++j) {
      if (j != i && overlap(to, bytes, m_now[j], m_relocations[j].bytes)) return false;
    }
    return true;
  }

  // Of those that are in somebody's way, the smallest for which there is a gap.
  bool park_one() {
    std::vector<std::size_t> in_the_way;
    for (std::size_t i = 0; i < m_now.size(); ++i) {
      if (!m_done[i] && blocks_some(i)) in_the_way.push_back(i);
    }
    std::ranges::stable_sort(in_the_way, {}, [&](auto i) { return m_relocations[i].bytes; });
    for (auto const i : in_the_way) {
      for (Tier const tier : kTiersInOrder) {
        bool const comes_and_goes =
            m_now[i].tier != Tier::nvme && m_relocations[i].to.tier != Tier::nvme;
        if (tier == Tier::nvme && !comes_and_goes) continue;  // storage to storage takes slots
        auto const offset = gap(tier, m_relocations[i].bytes);
        if (!offset) continue;
        hop(i, {tier, *offset});
        return true;
      }
    }
    return false;
  }

  bool blocks_some(std::size_t i) const {
    for (std::size_t j = 0; j < m_now.size(); ++j) {
      if (j == i || m_done[j]) continue;
      auto const& other = m_relocations[j];
      if (overlap(other.to, other.bytes, m_now[i], m_relocations[i].bytes)) return true;
    }
    return false;
  }

  void hop(std::size_t i, Residence const& to) {
    m_order.hops.push_back({static_cast<int>(i), m_now[i], to});
    m_now[i] = to;
  }

  // The lowest place that nothing takes now and nothing is to take.
  std::optional<std::int64_t> gap(Tier tier, std::int64_t bytes) const {
    auto const taken = taken_in(tier);
    auto const limit = m_limits[tier];
    std::int64_t offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (auto const& [first, last] : taken) {
        if (first >= offset + bytes || last <= offset) continue;
        offset = round_up(last, alignment_bytes(bytes, tier));
        moved = true;
      }
    }
    if (offset + footprint_bytes(bytes, tier) > limit) return std::nullopt;
    return offset;
  }

  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Ranges taken_in(Tier tier) const {
    Ranges taken;
    auto const add = [&](Residence const& place, std::int64_t bytes) {
      if (place.tier == tier && bytes > 0)
        taken.emplace_back(place.offset, place.offset + footprint_bytes(bytes, tier));
    };
    for (std::size_t i = 0; i < m_now.size(); ++i) {
      add(m_now[i], m_relocations[i].bytes);
      add(m_relocations[i].to, m_relocations[i].bytes);
    }
    add(m_order.slots, m_order.slot_bytes * m_order.slot_count);
    std::ranges::sort(taken);
    return taken;
  }

  std::vector<Relocation> const& m_relocations;
  TierBytes const& m_limits;
  std::vector<Residence> m_now;
  std::vector<bool> m_done;
  MoveOrder m_order;
};

}  // namespace

bool overlap(Residence const& a, std::int64_t a_bytes, Residence const& b, std::int64_t b_bytes) {
  return a.tier == b.tier && a.offset < b.offset + footprint_bytes(b_bytes, b.tier) &&
         b.offset < a.offset + footprint_bytes(a_bytes, a.tier);
}

bool needs_slots(Relocation const& relocation) {
  auto const& [bytes, from, to] = relocation;
  if (from == to) return false;
  bool const in_storage = from.tier == Tier::nvme && to.tier == Tier::nvme;
  return in_storage || overlap(from, bytes, to, bytes);
}

std::optional<MoveOrder> move_order(std::vector<Relocation> const& relocations,
                                    TierBytes const& limits) {
  return Orderer(relocations, limits).run();
}

}  // namespace spillway
