#include "support/interleave.hpp"

#include <algorithm>
#include <array>

#include "plan/passes.hpp"
#include "support/random_program.hpp"

namespace spillway::test {

Interleaver::Interleaver(Program const& program, int steps)
    : m_program(program), m_lanes(kLanes), m_latest(program.items.size(), -1) {
  int segment = 0;
  for (int step = 0; step < steps; ++step) {
    for (int const index : segment_sequence(program)) {
      Segment const& s = program.segments[static_cast<std::size_t>(index)];
      for (ItemNumber i = s.first; i < s.last; ++i) {
        add_instance(program.items[static_cast<std::size_t>(i)], step, segment);
      }
      ++segment;
    }
  }
}

void Interleaver::add_instance(Item const& item, int step, int segment) {
  int const id = static_cast<int>(m_instances.size());
  auto const lane = static_cast<std::size_t>(item.lane);
  m_instances.push_back({item.number, lane, static_cast<int>(m_lanes[lane].size()), {}, {}, {}});
  Instance& self = m_instances.back();
  m_lanes[lane].push_back(id);
  for (ItemNumber const wait : item.waits) {
    int const latest = m_latest[static_cast<std::size_t>(wait)];
    if (latest < 0) continue;
    Instance const& other = m_instances[static_cast<std::size_t>(latest)];
    self.waits.emplace_back(other.lane, other.position + 1);
  }
  for (Access const& write : item.writes) append_touches(self.writes, write, step);
  for (Access const& read : item.reads) {
    auto const first = self.reads.size();
    append_touches(self.reads, read, step);
    for (auto i = first; i < self.reads.size(); ++i) {
      auto const cell = read.first / kCellBytes + static_cast<std::int64_t>(i - first);
      expect(self.reads[i], read, cell, step, segment);
      self.reads[i].own = std::any_of(self.writes.begin(), self.writes.end(),
                                      [&](Touch const& w) { return w.same_place(self.reads[i]); });
    }
  }
  for (Access const& write : item.writes) {
    for (auto cell = write.first / kCellBytes; cell < write.last / kCellBytes; ++cell) {
      m_written.push_back({write.buffer, cell, id, step, segment});
    }
  }
  m_latest[static_cast<std::size_t>(item.number)] = id;
}

void Interleaver::append_touches(std::vector<Touch>& touches, Access const& access,
                                 int step) const {
  Buffer const& buffer = m_program.buffers[static_cast<std::size_t>(access.buffer)];
  auto const base = buffer.offset + (step % buffer.versions) * buffer.stride;
  for (auto byte = base + access.first; byte < base + access.last; byte += kCellBytes) {
    touches.push_back({static_cast<std::size_t>(buffer.tier),
                       static_cast<std::size_t>(byte / kCellBytes), -1, false});
  }
}

void Interleaver::expect(Touch& touch, Access const& access, std::int64_t cell, int step,
                         int segment) {
  Buffer const& buffer = m_program.buffers[static_cast<std::size_t>(access.buffer)];
  bool const local = !buffer.spanning && !buffer.persistent;
  auto const is_meant = [&](Written const& w) {
    auto const item = m_instances[static_cast<std::size_t>(w.instance)].item;
    return w.buffer == access.buffer && w.cell == cell && (!local || w.segment == segment) &&
           (w.step - step) % buffer.versions == 0 &&
           std::count(access.writers.begin(), access.writers.end(), item) > 0;
  };
  auto const found = std::find_if(m_written.rbegin(), m_written.rend(), is_meant);
  if (found != m_written.rend()) {
    touch.expected = found->instance;
  } else if (!buffer.persistent && !m_hopeless) {
    m_hopeless = {m_instances.back().item,
                  "reads '" + buffer.name + "', which nothing has written"};
  }
}

Interleaver::State Interleaver::begin() const {
  State state;
  for (auto const bytes : m_program.peak_bytes) {
    state.memory.emplace_back(static_cast<std::size_t>(bytes / kCellBytes));
  }
  state.started.assign(kLanes, 0);
  state.published.assign(kLanes, 0);
  state.finished.assign(m_instances.size(), false);
  return state;
}

std::vector<Interleaver::Event> Interleaver::possible(State const& state) const {
  std::vector<Event> events;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    auto const next = static_cast<std::size_t>(state.started[lane]);
    if (next == m_lanes[lane].size()) continue;
    bool const serial = is_serial(static_cast<Lane>(lane));
    if (serial && state.published[lane] < state.started[lane]) continue;
    int const id = m_lanes[lane][next];
    auto const& waits = m_instances[static_cast<std::size_t>(id)].waits;
    bool const ready = std::all_of(waits.begin(), waits.end(), [&](auto const& wait) {
      return state.published[wait.first] >= wait.second;
    });
    if (ready) events.push_back({id, false});
  }
  for (int const id : state.running) events.push_back({id, true});
  return events;
}

Failure Interleaver::failure(int instance, std::string const& why, int other) const {
  auto const item = m_instances[static_cast<std::size_t>(instance)].item;
  auto const who = other < 0
                       ? std::string("nobody")
                       : describe(m_program, m_instances[static_cast<std::size_t>(other)].item);
  return {item, describe(m_program, item) + why + who};
}

std::optional<Failure> Interleaver::check_reads(State const& state, int id, bool at_end) const {
  for (Touch const& read : m_instances[static_cast<std::size_t>(id)].reads) {
    if (at_end && read.own) continue;
    Cell const& cell = state.memory[read.tier][read.cell];
    if (cell.writer != read.expected) return failure(id, " found the value of ", cell.writer);
    if (cell.busy) return failure(id, " read while writing was ", cell.writer);
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::start(State& state, int id) const {
  if (auto const wrong = check_reads(state, id, false)) return wrong;
  for (Touch const& write : m_instances[static_cast<std::size_t>(id)].writes) {
    Cell& cell = state.memory[write.tier][write.cell];
    if (cell.busy && cell.writer != id) return failure(id, " wrote together with ", cell.writer);
    if (cell.writer > id) return failure(id, " wrote over what is later, by ", cell.writer);
    cell = {id, true};
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::perform(State& state, Event const& event) const {
  Instance const& self = m_instances[static_cast<std::size_t>(event.instance)];
  if (!event.finish) {
    ++state.started[self.lane];
    state.running.push_back(event.instance);
    return start(state, event.instance);
  }
  std::erase(state.running, event.instance);
  state.finished[static_cast<std::size_t>(event.instance)] = true;
  auto& published = state.published[self.lane];
  while (published < state.started[self.lane] &&
         state.finished[static_cast<std::size_t>(
             m_lanes[self.lane][static_cast<std::size_t>(published)])]) {
    ++published;
  }
  for (Touch const& write : self.writes) {
    Cell& cell = state.memory[write.tier][write.cell];
    if (cell.writer == event.instance) cell.busy = false;
  }
  return check_reads(state, event.instance, true);
}

std::optional<Failure> Interleaver::run_random(Random& random) {
  if (m_hopeless) return m_hopeless;
  std::array<unsigned, kLanes> speed{};
  for (auto& s : speed) s = 1u << random() % 8;
  State state = begin();
  for (auto events = possible(state); !events.empty(); events = possible(state)) {
    unsigned total = 0;
    auto const speed_of = [&](Event const& event) {
      return speed[m_instances[static_cast<std::size_t>(event.instance)].lane];
    };
    for (Event const& event : events) total += speed_of(event);
    unsigned dice = static_cast<unsigned>(random() % total);
    std::size_t chosen = 0;
    while (dice >= speed_of(events[chosen])) dice -= speed_of(events[chosen++]);
    if (auto const wrong = perform(state, events[chosen])) return wrong;
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::run_holding(int held, bool started) const {
  State state = begin();
  for (auto events = possible(state); !events.empty(); events = possible(state)) {
    auto const free = std::find_if(events.begin(), events.end(), [&](Event const& event) {
      return event.instance != held || (started && !event.finish);
    });
    if (auto const wrong = perform(state, free == events.end() ? events.front() : *free)) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::run_held(ItemNumber only) {
  if (m_hopeless) return m_hopeless;
  for (int id = 0; id < static_cast<int>(m_instances.size()); ++id) {
    if (only >= 0 && m_instances[static_cast<std::size_t>(id)].item != only) continue;
    for (bool const started : {false, true}) {
      if (auto const wrong = run_holding(id, started)) return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace spillway::test
