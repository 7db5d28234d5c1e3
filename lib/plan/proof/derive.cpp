#include "plan/proof/derive.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "plan/data/program.hpp"
#include "plan/proof/byte_cells.hpp"
#include "plan/proof/clock.hpp"

namespace spillway {

namespace {

// Adds a number to an ascending list unless the list already has it.
void insert_once(std::vector<ItemNumber>& ascending, ItemNumber number) {
  auto const at = std::ranges::lower_bound(ascending, number);
  if (at == ascending.end() || *at != number) ascending.insert(at, number);
}

// These fields name the last writer of a byte and, for each lane, the position of the last reader
// since then. The last reader stands for earlier ones, because lanes complete in order.
struct Users {
  Lane writer = Lane::compute;
  std::int32_t written = 0;  // the position of the writer on its lane, or 0 if there is no writer
  Clock readers{};
};

class WaitFinder {
 public:
  explicit WaitFinder(Program& program)
      : m_program(program), m_clocks(program.items.size()), m_cells(program), m_users(m_cells) {}

  void visit(Instance const& now) {
    Item& item = m_program.items[now.item];
    Clock const needed = conflicts(item, now.step);
    Clock start = m_clocks.start(m_program, item);
    for (Lane const lane : latest_first(needed)) {
      if (start[lane] >= needed[lane]) continue;
      ItemNumber const wait = earliest_name(lane, needed[lane]);
      item.waits.push_back(wait);
      join(start, m_clocks.after(m_program.items[wait]));
    }
    record(item, now.step, m_clocks.append(item, start));
  }

 private:
  // Returns for each lane the last position that must be complete before `item` may start.
  Clock conflicts(Item const& item, int step) {
    Clock needed{};
    auto const join_writer = [&](Users const& users) {
      needed[users.writer] = std::max(needed[users.writer], users.written);
    };
    for (auto const& read : m_cells.reads(item, step))
      for (Users const& users : m_users[read]) join_writer(users);
    for (auto const& write : m_cells.writes(item, step)) {
      for (Users const& users : m_users[write]) {
        join_writer(users);
        join(needed, users.readers);
      }
    }
    return needed;
  }

  // Returns the lanes for which `needed` is above 0. The lane whose item comes last in total order
  // is the first, because a wait for that item may imply the other waits.
  std::vector<Lane> latest_first(Clock const& needed) const {
    std::vector<Lane> lanes;
    for (Lane const lane : kLanesInOrder)
      if (needed[lane] > 0) lanes.push_back(lane);
    auto const order = [&](Lane lane) { return m_clocks.order_at(lane, needed[lane]); };
    std::ranges::sort(lanes, std::greater<>{}, order);
    return lanes;
  }

  // Returns the first item on the lane, at `position` or later, whose instance there is its latest
  // one. A wait names an item and means its latest instance, but the instance at `position` may be
  // an earlier one, for example from two steps before.
  ItemNumber earliest_name(Lane lane, std::int32_t position) const {
    while (m_clocks.latest(m_clocks.item_at(lane, position)) != position) ++position;
    return m_clocks.item_at(lane, position);
  }

  void record(Item const& item, int step, std::int32_t position) {
    for (auto const& read : m_cells.reads(item, step))
      for (Users& users : m_users[read]) users.readers[item.lane] = position;
    for (auto const& write : m_cells.writes(item, step))
      std::ranges::fill(m_users[write], Users{item.lane, position, {}});
  }

  Program& m_program;
  LaneClocks m_clocks;
  ByteCells m_cells;
  PerCell<Users> m_users;
};

// Returns whether `item` needs `wait`, which neither its lane's order nor its other waits imply.
bool is_needed(Program const& program, LaneClocks const& clocks, Item const& item,
               ItemNumber wait) {
  Clock without = clocks.by_order(item.lane);
  for (ItemNumber const other : item.waits)
    if (other != wait) join(without, clocks.after(program.items[other]));
  return without[program.items[wait].lane] < clocks.latest(wait);
}

}  // namespace

void link(Program& program) {
  auto const cells = ByteCells::by_buffer(program);
  PerCell<ItemNumber> last_writer(cells, -1);
  for (Item& item : program.items)
    for (Access& read : item.reads) read.writers.clear();
  for (Instance const& now : unroll_for_proof(program)) {
    Item& item = program.items[now.item];
    for (auto read = item.reads.begin(); auto const& range : cells.reads(item, now.step)) {
      for (ItemNumber const writer : last_writer[range])
        if (writer >= 0) insert_once(read->writers, writer);
      ++read;
    }
    for (auto const& range : cells.writes(item, now.step))
      std::ranges::fill(last_writer[range], now.item);
  }
}

void find_waits(Program& program) {
  for (Item& item : program.items) item.waits.clear();
  WaitFinder finder(program);
  for (Instance const& now : unroll_for_proof(program)) finder.visit(now);
}

// All may be dropped at once: a wait is implied only by a wait for a later instance, so each chain
// ends at one that stays.
void drop_implied_waits(Program& program) {
  LaneClocks clocks(program.items.size());
  IdVector<std::vector<ItemNumber>> needed(program.items.size());
  for (Instance const& now : unroll_for_proof(program)) {
    Item const& item = program.items[now.item];
    for (ItemNumber const wait : item.waits)
      if (is_needed(program, clocks, item, wait)) insert_once(needed[now.item], wait);
    clocks.append(item, clocks.start(program, item));
  }
  for (Item& item : program.items) item.waits = std::move(needed[item.number]);
}

void derive_waits(Program& program) {
  find_waits(program);
  drop_implied_waits(program);
}

}  // namespace spillway
