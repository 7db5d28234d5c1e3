#include "plan/memory/spread.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/math.hpp"
#include "plan/memory/near_uses.hpp"

namespace spillway {
namespace {

// Returns by how much a buffer crowds another one whose last item on another lane was told so many
// items before: what is told soon after it waits far more often than what is told later.
std::int64_t crowding_at(ItemNumber distance) {
  if (distance >= kFar) return 0;
  std::int64_t const near = kFar - distance, square = near * near;
  return square * square;
}

class Spread {
 public:
  Spread(std::span<Movable> placed, Program const& program, std::int64_t peak)
      : m_placed(placed),
        m_items(static_cast<ItemNumber>(program.items.size())),
        m_peak(peak),
        m_uses(uses_of(placed, program)),
        m_near(m_uses) {}

  void run() {
    for (std::size_t i = 0; i < m_placed.size(); ++i)
      if (may_move(m_placed[i])) move(i);
  }

 private:
  using Near = std::vector<std::size_t>;

  static bool may_move(Movable const& it) { return !it.reserved && it.stays->size() == 1; }

  // Buffer i must be one that may move.
  bool meet(std::size_t i, std::size_t k) const {
    auto const &a = m_uses[i], &b = m_uses[k];
    if (a.last_stay < b.first_stay || b.last_stay < a.first_stay) return false;
    auto const& stay = m_placed[i].stays->front();
    return std::ranges::any_of(*m_placed[k].stays, [&](Stay const& it) { return it.meets(stay); });
  }

  ItemNumber repeats_after(Uses const& a, Uses const& b) const {
    return a.middle == b.middle ? a.period : m_items;
  }

  // Returns by how much buffer k would crowd buffer i if it began where that was.
  std::int64_t crowding(Uses const& before, Uses const& after) const {
    auto first = after.first;
    if (before.last >= first) first += repeats_after(before, after);
    if (first - before.last >= kFar) return 0;
    std::int64_t sum = 0;
    for (Lane const lane : kLanesInOrder)
      if (before.ends[lane] >= 0 && lane != after.lane)
        sum += crowding_at(first - before.ends[lane]);
    return sum;
  }

  // Returns by how much two buffers that do not meet crowd each other if they share bytes. Items of
  // one lane run one after the other anyway.
  std::int64_t crowding_of_both(std::size_t i, std::size_t k) const {
    auto const &a = m_uses[i], &b = m_uses[k];
    return a.only_ops && b.only_ops ? 0 : crowding(a, b) + crowding(b, a);
  }

  std::int64_t crowding_now(std::size_t i, Near const& near) const {
    auto const& it = m_placed[i];
    std::int64_t sum = 0;
    for (auto const k : near) {
      auto const& other = m_placed[k];
      bool const share = it.offset < other.offset + other.bytes &&  //
                         other.offset < it.offset + it.bytes;
      if (share && !meet(i, k)) sum += crowding_of_both(i, k);
    }
    return sum;
  }

  // Lists at which offsets buffer i would meet or crowd others.
  void list_changes(std::size_t i, Near const& near) {
    auto const& it = m_placed[i];
    m_changes.clear();
    for (auto const k : near) {
      auto const& other = m_placed[k];
      bool const meets = meet(i, k);
      auto const crowds = meets ? std::int64_t{0} : crowding_of_both(i, k);
      if (!meets && crowds == 0) continue;
      auto const first = std::max<std::int64_t>(0, other.offset - it.bytes + 1);
      auto const end = other.offset + other.bytes;
      m_changes.push_back({round_up(first, it.alignment), meets ? 1 : 0, crowds});
      m_changes.push_back({round_up(end, it.alignment), meets ? -1 : 0, -crowds});
    }
    std::ranges::sort(m_changes, {}, &Change::at);
  }

  // Moves the buffer to the lowest one of the free offsets where it crowds others least.
  void move(std::size_t i) {
    auto const& near = m_near.of(i);
    auto least = crowding_now(i, near);
    if (least == 0) return;
    list_changes(i, near);
    auto& it = m_placed[i];
    std::int64_t at = 0, crowds = 0;
    int meets = 0;
    for (auto change = m_changes.begin(); at + it.bytes <= m_peak; at = change->at) {
      for (; change != m_changes.end() && change->at <= at; ++change) {
        meets += change->meets;
        crowds += change->crowds;
      }
      if (meets == 0 && crowds < least) std::tie(least, it.offset) = std::pair(crowds, at);
      if (change == m_changes.end()) return;
    }
  }

  // From offset `at` on a buffer meets so many more others, and crowds others by so much more.
  struct Change {
    std::int64_t at;
    int meets;
    std::int64_t crowds;
  };

  std::span<Movable> m_placed;
  ItemNumber m_items;
  std::int64_t m_peak;
  std::vector<Uses> m_uses;  // of the buffers in m_placed
  NearUses m_near;
  std::vector<Change> m_changes;
};

}  // namespace

void spread(std::span<Movable> placed, Program const& program, std::int64_t peak) {
  Spread(placed, program, peak).run();
}

}  // namespace spillway
