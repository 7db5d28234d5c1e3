#include "plan/memory/spread.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/math.hpp"

namespace spillway {
namespace {

// Items of two lanes that are told so far apart hardly ever wait for each other.
constexpr ItemNumber kFar = 128;

// Uses say which items use a buffer: the first one, and the last one on each lane.
struct Uses {
  ItemNumber first = -1, last = -1;
  Lane lane = Lane::compute;   // the first item's lane
  PerLane<ItemNumber> ends{};  // the last item of each lane, or -1 if it has none
  int middle = -1;             // the number of the repeated segment that all of them belong to
  ItemNumber period = 0;       // so many items later they run again
  bool only_ops = true;        // whether all of them run on the compute lane

  Uses() { ends.fill(-1); }
  void add(Item const& item) {
    if (first < 0) std::tie(first, lane) = std::pair(item.number, item.lane);
    last = ends[item.lane] = item.number;
    only_ops &= item.lane == Lane::compute;
  }
};

IdVector<Uses> uses_of(Program const& program) {
  IdVector<Uses> result(program.buffers.size());
  for (Item const& item : program.items) {
    for (auto const* accesses : {&item.reads, &item.writes})
      for (Access const& access : *accesses) result[access.buffer].add(item);
  }
  for (Uses& uses : result) {
    uses.period = static_cast<ItemNumber>(program.items.size());
    for (int s = 0; s < std::ssize(program.segments); ++s) {
      auto const& segment = program.segments[s];
      if (!segment.is_middle() || uses.first < segment.first || uses.last >= segment.last) continue;
      uses.middle = s;
      uses.period = segment.last - segment.first;
    }
  }
  return result;
}

class Spread {
 public:
  Spread(std::span<Movable> placed, Program const& program, std::int64_t peak)
      : m_placed(placed), m_program(program), m_peak(peak) {
    auto uses = uses_of(program);
    for (Movable const& it : placed) m_uses.push_back(std::move(uses[it.buffer]));
  }

  void run() {
    for (std::size_t i = 0; i < m_placed.size(); ++i) m_spans.push_back(span_of(i));
    for (std::size_t i = 0; i < m_placed.size(); ++i)
      if (may_move(i) && is_crowded(i)) move(m_placed[i]);
  }

 private:
  // Items of one lane run one after the other anyway.
  bool may_move(std::size_t i) const {
    auto const& it = m_placed[i];
    return !it.reserved && it.stays->size() == 1 && !m_uses[i].only_ops;
  }

  // A Span tells quickly that two buffers neither meet nor crowd each other.
  struct Span {
    ItemNumber first, last;            // of the items
    ItemNumber first_stay, last_stay;  // all stays lie between these
    bool is_early, is_late;  // whether the items are near the begin, or the end, of what repeats
  };
  Span span_of(std::size_t i) const {
    auto const& uses = m_uses[i];
    auto const& stays = *m_placed[i].stays;
    auto const from = uses.middle < 0 ? 0 : m_program.segments[uses.middle].first;
    return {uses.first,
            uses.last,
            std::ranges::min(stays, {}, &Stay::first).first,
            std::ranges::max(stays, {}, &Stay::last).last,
            uses.first - from < kFar,
            from + uses.period - uses.last < kFar};
  }
  bool are_far(Span const& a, Span const& b) const {
    bool const apart = a.last_stay < b.first_stay || b.last_stay < a.first_stay;
    bool const near = b.first - a.last < kFar && a.first - b.last < kFar;
    return apart && !near && !(a.is_late && b.is_early) && !(b.is_late && a.is_early);
  }

  // Buffer i must be one that may move.
  bool meet(std::size_t i, std::size_t k) const {
    auto const& stay = m_placed[i].stays->front();
    return std::ranges::any_of(*m_placed[k].stays, [&](Stay const& it) { return it.meets(stay); });
  }

  ItemNumber repeats_after(Uses const& a, Uses const& b) const {
    return a.middle == b.middle ? a.period : static_cast<ItemNumber>(m_program.items.size());
  }

  // Returns by how much buffer k would crowd buffer i if it began where that was: more if its first
  // item comes sooner after the last ones of other lanes that use buffer i.
  std::int64_t crowding(std::size_t i, std::size_t k) const {
    auto const &before = m_uses[i], &after = m_uses[k];
    auto first = after.first;
    if (before.last >= first) first += repeats_after(before, after);
    if (first - before.last >= kFar) return 0;
    std::int64_t sum = 0;
    for (Lane const lane : kLanesInOrder) {
      auto const last = before.ends[lane];
      if (last < 0 || lane == after.lane || first - last >= kFar) continue;
      auto const near = kFar - (first - last);
      sum += near * near;
    }
    return sum;
  }

  // Lists at which offsets buffer i would meet or crowd others, and returns whether it crowds any
  // where it is.
  bool is_crowded(std::size_t i) {
    auto const& it = m_placed[i];
    m_changes.clear();
    m_now = 0;
    for (std::size_t k = 0; k < m_placed.size(); ++k) {
      if (k == i || are_far(m_spans[i], m_spans[k])) continue;
      auto const& other = m_placed[k];
      bool const meets = meet(i, k);
      auto const crowds = meets ? std::int64_t{0} : crowding(i, k) + crowding(k, i);
      if (!meets && crowds == 0) continue;
      auto const other_end = other.offset + other.bytes;
      if (it.offset < other_end && other.offset < it.offset + it.bytes) m_now += crowds;
      auto const first = std::max<std::int64_t>(0, other.offset - it.bytes + 1);
      m_changes.push_back({round_up(first, it.alignment), meets ? 1 : 0, crowds});
      m_changes.push_back({round_up(other_end, it.alignment), meets ? -1 : 0, -crowds});
    }
    return m_now > 0;
  }

  // Moves the buffer to the lowest one of the free offsets where it crowds others least.
  void move(Movable& it) {
    std::ranges::sort(m_changes, {}, &Change::at);
    auto least = m_now;
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
  Program const& m_program;
  std::int64_t m_peak;
  std::vector<Uses> m_uses;   // of the buffers in m_placed
  std::vector<Span> m_spans;  // of the same
  std::vector<Change> m_changes;
  std::int64_t m_now = 0;  // by how much a buffer crowds others where it is
};

}  // namespace

void spread(std::span<Movable> placed, Program const& program, std::int64_t peak) {
  Spread(placed, program, peak).run();
}

}  // namespace spillway
