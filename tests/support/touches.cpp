#include "tests/support/touches.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "plan/proof/unroll.hpp"

namespace spillway::test {

namespace {

// Cuts memory where any access begins or ends. The cells of all tiers are numbered together from 0.
class Cells {
 public:
  explicit Cells(Program const& program) {
    for (Buffer const& buffer : program.buffers) cut(buffer, {buffer.id, 0, buffer.bytes, {}});
    for (Item const& item : program.items) {
      for (auto const* accesses : {&item.reads, &item.writes}) {
        for (Access const& access : *accesses) {
          cut(program.buffers[static_cast<std::size_t>(access.buffer)], access);
        }
      }
    }
    for (auto& cuts : m_cuts) {
      for (auto& [byte, number] : cuts) number = m_count++;
    }
  }

  int count() const { return m_count; }
  // Returns the range [first, last) of cells that the access uses in this step.
  std::pair<int, int> of(Buffer const& buffer, Access const& access, int step) const {
    auto const& cuts = m_cuts[index(buffer.tier)];
    auto const range = arena_range(buffer, access, step);
    return {cuts.at(range.first), cuts.at(range.last)};
  }

 private:
  void cut(Buffer const& buffer, Access const& access) {
    auto& cuts = m_cuts[index(buffer.tier)];
    for (int step = 0; step < buffer.versions; ++step) {
      auto const range = arena_range(buffer, access, step);
      cuts[range.first] = cuts[range.last] = 0;
    }
  }

  // Maps the byte at which a cell begins to the number of the cell.
  std::array<std::map<std::int64_t, int>, kTiers> m_cuts;
  int m_count = 0;
};

class Unroller {
 public:
  explicit Unroller(Program const& program)
      : m_program(program),
        m_cells(program),
        m_latest(program.items.size(), -1),
        m_written(program.buffers.size()),
        m_writes(static_cast<std::size_t>(m_cells.count()), {-1, -1}) {
    m_all.lanes.resize(kLanes);
    m_all.owners.assign(static_cast<std::size_t>(m_cells.count()), -1);
    for (Buffer const& buffer : program.buffers) {
      if (buffer.persistent) own(buffer);
    }
  }

  void add(Instance const& now) {
    Item const& item = m_program.items[static_cast<std::size_t>(now.item)];
    int const id = static_cast<int>(m_all.executions.size());
    auto const lane = index(item.lane);
    auto& on_lane = m_all.lanes[lane];
    Execution self{item.number, lane, static_cast<int>(on_lane.size()), {}, {}, {}};
    on_lane.push_back(id);
    add_waits(self, item);
    for (Access const& write : item.writes) append(self.writes, write, now.step);
    for (Touch const& write : self.writes)
      m_writes[static_cast<std::size_t>(write.cell)] = {id, write.buffer};
    for (Access const& read : item.reads) {
      auto const first = self.reads.size();
      append(self.reads, read, now.step);
      for (auto i = first; i < self.reads.size(); ++i) expect(self.reads[i], read, now, id);
    }
    for (Touch const& write : self.writes) {
      m_written[static_cast<std::size_t>(write.buffer)][write.cell].push_back({id, now.segment});
    }
    m_latest[static_cast<std::size_t>(item.number)] = id;
    m_all.executions.push_back(std::move(self));
  }

  // Adds the results of a step. It is called after the step's last execution.
  void end_step(int step) {
    std::vector<bool> read(m_program.buffers.size(), false);
    for (Item const& item : m_program.items) {
      for (Access const& access : item.reads) read[static_cast<std::size_t>(access.buffer)] = true;
    }
    for (Buffer const& buffer : m_program.buffers) {
      bool const result = buffer.spanning && !read[static_cast<std::size_t>(buffer.id)];
      if (result) add_result(buffer, step);
    }
  }

  Touches const& all() const { return m_all; }

 private:
  struct Written {
    int execution, segment;
  };

  void own(Buffer const& buffer) {
    auto const [first, last] = m_cells.of(buffer, {buffer.id, 0, buffer.bytes, {}}, 0);
    for (int cell = first; cell < last; ++cell) {
      auto& owner = m_all.owners[static_cast<std::size_t>(cell)];
      if (owner >= 0) fail(-1, "two persistent buffers, of which one is '" + buffer.name + "'");
      owner = buffer.id;
    }
  }

  void add_waits(Execution& self, Item const& item) const {
    for (ItemNumber const wait : item.waits) {
      int const latest = m_latest[static_cast<std::size_t>(wait)];
      if (latest < 0) continue;
      Execution const& other = m_all.executions[static_cast<std::size_t>(latest)];
      self.waits.emplace_back(other.lane, other.position + 1);
    }
  }

  void append(std::vector<Touch>& list, Access const& access, int step) const {
    Buffer const& buffer = m_program.buffers[static_cast<std::size_t>(access.buffer)];
    auto const [first, last] = m_cells.of(buffer, access, step);
    for (int cell = first; cell < last; ++cell) list.push_back({cell, access.buffer});
  }

  // Sets `expected`: the latest execution of one of the read's writers that wrote this cell through
  // this buffer. The two versions of a buffer have cells of their own.
  void expect(Touch& touch, Access const& access, Instance const& now, int id) {
    Buffer const& buffer = m_program.buffers[static_cast<std::size_t>(access.buffer)];
    bool const local = !buffer.spanning && !buffer.persistent;
    touch.own = m_writes[static_cast<std::size_t>(touch.cell)] == std::pair(id, touch.buffer);
    auto const& written = m_written[static_cast<std::size_t>(access.buffer)][touch.cell];
    auto const found = std::find_if(written.rbegin(), written.rend(), [&](Written const& w) {
      auto const item = m_all.executions[static_cast<std::size_t>(w.execution)].item;
      return (!local || w.segment == now.segment) && std::ranges::count(access.writers, item) > 0;
    });
    if (found != written.rend()) {
      touch.expected = found->execution;
    } else if (!buffer.persistent) {
      fail(now.item, "reads '" + buffer.name + "', which nothing has written");
    }
  }

  void add_result(Buffer const& buffer, int step) {
    auto const& written = m_written[static_cast<std::size_t>(buffer.id)];
    auto const [first, last] = m_cells.of(buffer, {buffer.id, 0, buffer.bytes, {}}, step);
    for (int cell = first; cell < last; ++cell) {
      auto const found = written.find(cell);
      if (found == written.end()) continue;
      int const after = static_cast<int>(m_all.executions.size()) - 1;
      m_all.results.push_back({after, {cell, buffer.id, found->second.back().execution}});
    }
  }

  void fail(ItemNumber item, std::string const& why) {
    if (!m_all.hopeless) m_all.hopeless = {item, why};
  }

  Program const& m_program;
  Cells m_cells;
  std::vector<int> m_latest;                                   // the latest execution of each item
  std::vector<std::map<int, std::vector<Written>>> m_written;  // the writes of each buffer and cell
  // For each cell, the execution that writes it last and the buffer through which it does so.
  std::vector<std::pair<int, BufferId>> m_writes;
  Touches m_all;
};

}  // namespace

Touches touches(Program const& program, int steps) {
  Unroller unroller(program);
  int step = 0;
  for (Instance const& now : unroll(program, segment_sequence(program), steps)) {
    if (now.step != step) unroller.end_step(step++);
    unroller.add(now);
  }
  unroller.end_step(step);
  return unroller.all();
}

}  // namespace spillway::test
