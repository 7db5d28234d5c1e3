#include "plan/proof/derive_waits.hpp"

#include <algorithm>
#include <span>

#include "plan/data/program.hpp"
#include "plan/proof/byte_cells.hpp"
#include "plan/proof/clock.hpp"

namespace spillway {

namespace {

// Who used a byte since it was last written: on every lane the furthest position, which stands for
// the earlier ones, because lanes complete as prefixes.
struct Users {
  std::uint32_t lane = 0;  // of the writer
  std::int32_t write = 0;  // its position, from 1; 0: none
  Clock readers{};
};

class WaitFinder {
 public:
  explicit WaitFinder(Program& program)
      : m_program(program),
        m_clocks(program.items.size()),
        m_cells(program),
        m_memory(m_cells.count()) {}

  void visit(Instance const& now) {
    Item& item = m_program.items[now.item];
    Clock const needed = conflicts(item, now.step);
    Clock start = m_clocks.start(m_program, item);
    for (std::size_t const lane : latest_first(needed)) {
      if (start[lane] >= needed[lane]) continue;
      ItemNumber const wait = earliest_name(static_cast<Lane>(lane), needed[lane]);
      item.waits.push_back(wait);
      join(start, m_clocks.after(m_program.items[wait]));
    }
    record(item, now.step, m_clocks.append(item, start));
  }

 private:
  std::span<Users> memory(ByteCells::Range const& range) {
    return std::span(m_memory).subspan(range.first, range.last - range.first);
  }

  // Per lane, the last position that must be complete before `item` may start.
  Clock conflicts(Item const& item, int step) {
    Clock needed{};
    auto const join_writer = [&](Users const& users) {
      if (users.write > 0) needed[users.lane] = std::max(needed[users.lane], users.write);
    };
    for (auto const& read : m_cells.reads(item, step)) {
      for (Users const& users : memory(read)) join_writer(users);
    }
    for (auto const& write : m_cells.writes(item, step)) {
      for (Users const& users : memory(write)) {
        join_writer(users);
        join(needed, users.readers);
      }
    }
    return needed;
  }

  // Lanes of `needed`, the latest instance in total order first: it may imply the others.
  std::vector<std::size_t> latest_first(Clock const& needed) const {
    std::vector<std::size_t> lanes;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (needed[lane] > 0) lanes.push_back(lane);
    }
    auto const order = [&](std::size_t lane) {
      return m_clocks.order_at(static_cast<Lane>(lane), needed[lane]);
    };
    std::sort(lanes.begin(), lanes.end(), [&](auto a, auto b) { return order(a) > order(b); });
    return lanes;
  }

  // A wait names an item and means its latest instance. For an instance that has been repeated
  // since (two steps ago, say), the next position on the lane that can be named is the least delay.
  ItemNumber earliest_name(Lane lane, std::int32_t position) const {
    while (m_clocks.latest(m_clocks.item_at(lane, position)) != position) ++position;
    return m_clocks.item_at(lane, position);
  }

  void record(Item const& item, int step, std::int32_t position) {
    for (auto const& read : m_cells.reads(item, step)) {
      for (Users& users : memory(read)) users.readers[item.lane] = position;
    }
    Users const written{static_cast<std::uint32_t>(index(item.lane)), position, {}};
    for (auto const& write : m_cells.writes(item, step)) std::ranges::fill(memory(write), written);
  }

  Program& m_program;
  LaneClocks m_clocks;
  ByteCells m_cells;
  std::vector<Users> m_memory;  // per cell
};

// Marks the waits of `item` that order and its other waits do not imply at this instance, from
// place `first` on.
void mark_needed(Program const& program, LaneClocks const& clocks, Item const& item,
                 std::vector<bool>& needed, std::size_t first) {
  for (std::size_t w = 0; w < item.waits.size(); ++w) {
    Item const& awaited = program.items[item.waits[w]];
    Clock without = clocks.by_order(item.lane);
    for (std::size_t other = 0; other < item.waits.size(); ++other) {
      if (other == w) continue;
      join(without, clocks.after(program.items[item.waits[other]]));
    }
    if (without[awaited.lane] < clocks.latest(awaited.number)) needed[first + w] = true;
  }
}

// Drops the waits that are implied at every instance. All at once is sound: a wait is implied by
// one for something later, so every chain of implications ends at a wait that stays.
void drop_implied(Program& program, std::vector<Instance> const& instances) {
  LaneClocks clocks(program.items.size());
  std::vector<std::size_t> first;  // per item: its first wait's place
  std::size_t waits = 0;
  for (Item const& item : program.items) {
    first.push_back(waits);
    waits += item.waits.size();
  }
  std::vector<bool> needed(waits, false);
  for (Instance const& now : instances) {
    Item const& item = program.items[now.item];
    mark_needed(program, clocks, item, needed, first[now.item]);
    clocks.append(item, clocks.start(program, item));
  }
  for (Item& item : program.items) {
    std::vector<ItemNumber> kept;
    for (std::size_t w = 0; w < item.waits.size(); ++w) {
      if (needed[first[item.number] + w]) kept.push_back(item.waits[w]);
    }
    std::sort(kept.begin(), kept.end());
    item.waits = std::move(kept);
  }
}

}  // namespace

void derive_waits(Program& program) {
  for (Item& item : program.items) item.waits.clear();
  auto const instances = unroll(program, proof_sequence(program), proof_steps(program));
  WaitFinder finder(program);
  for (Instance const& now : instances) finder.visit(now);
  drop_implied(program, instances);
}

}  // namespace spillway
