#include "tests/support/interleave.hpp"

#include <algorithm>

namespace spillway::test {

Interleaver::Interleaver(Program const& program, int steps)
    : m_program(program), m_all(touches(program, steps)) {}

Interleaver::State Interleaver::begin() const {
  return {.memory = std::vector<Cell>(m_all.owners.size()),
          .finished = std::vector<bool>(m_all.executions.size(), false)};
}

// Returns whether the cell has the value that `touch` expects. A writer of -1 stands for the value
// from before step 0.
bool Interleaver::holds(Cell const& cell, Touch const& touch) {
  return cell.writer == touch.expected && (cell.writer < 0 || cell.buffer == touch.buffer);
}

void Interleaver::change(State& state, int cell, Cell now) {
  auto& memory = state.memory[static_cast<std::size_t>(cell)];
  state.undo.emplace_back(cell, memory);
  memory = now;
}

Failure Interleaver::failure(int id, std::string const& why, int other) const {
  auto const who = other < 0 ? std::string("nobody") : describe(m_program, at(other).item);
  return {at(id).item, describe(m_program, at(id).item) + why + who};
}

Failure Interleaver::lost_state(int id, BufferId owner) const {
  return {at(id).item, describe(m_program, at(id).item) + " wrote over the state in '" +
                           m_program.buffers[static_cast<std::size_t>(owner)].name + "'"};
}

std::optional<Failure> Interleaver::check_reads(State const& state, int id, bool at_end) const {
  for (Touch const& read : at(id).reads) {
    if (at_end && read.own) continue;
    Cell const& cell = state.memory[static_cast<std::size_t>(read.cell)];
    if (!holds(cell, read)) return failure(id, " found the value of ", cell.writer);
    if (cell.busy) return failure(id, " read while writing was ", cell.writer);
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::check_results(State const& state, int after) const {
  for (Result const& result : m_all.results) {
    if (result.after != after) continue;
    Cell const& cell = state.memory[static_cast<std::size_t>(result.touch.cell)];
    if (holds(cell, result.touch)) continue;
    return failure(result.touch.expected, " lost its result to ", cell.writer);
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::start(State& state, int id) const {
  if (auto const wrong = check_reads(state, id, false)) return wrong;
  for (Touch const& write : at(id).writes) {
    Cell const cell = state.memory[static_cast<std::size_t>(write.cell)];
    auto const owner = m_all.owners[static_cast<std::size_t>(write.cell)];
    if (owner >= 0 && owner != write.buffer) return lost_state(id, owner);
    bool const own = cell.writer == id && cell.buffer == write.buffer;
    if (cell.busy && !own) return failure(id, " wrote together with ", cell.writer);
    if (cell.writer > id) return failure(id, " wrote over what is later, by ", cell.writer);
    change(state, write.cell, {id, write.buffer, true});
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::finish(State& state, int id) const {
  for (Touch const& write : at(id).writes) {
    if (state.memory[static_cast<std::size_t>(write.cell)].writer == id) {
      change(state, write.cell, {id, write.buffer, false});
    }
  }
  return check_reads(state, id, true);
}

bool Interleaver::can_start(State const& state, std::size_t lane) const {
  auto const next = state.started[lane];
  if (next == static_cast<int>(m_all.lanes[lane].size())) return false;
  if (is_serial(static_cast<Lane>(lane)) && state.published[lane] < next) return false;
  auto const& waits = at(m_all.lanes[lane][static_cast<std::size_t>(next)]).waits;
  return std::all_of(waits.begin(), waits.end(),
                     [&](auto const& wait) { return state.published[wait.first] >= wait.second; });
}

std::vector<Interleaver::Event> Interleaver::possible(State const& state) const {
  std::vector<Event> events;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (!can_start(state, lane)) continue;
    events.push_back({m_all.lanes[lane][static_cast<std::size_t>(state.started[lane])], false});
  }
  for (int const id : state.running) events.push_back({id, true});
  return events;
}

std::optional<Failure> Interleaver::perform(State& state, Event const& event) const {
  auto const lane = at(event.execution).lane;
  if (!event.finish) {
    ++state.started[lane];
    state.running.push_back(event.execution);
    return start(state, event.execution);
  }
  std::erase(state.running, event.execution);
  state.finished[static_cast<std::size_t>(event.execution)] = true;
  auto& published = state.published[lane];
  auto const is_finished = [&](int position) {
    return state
        .finished[static_cast<std::size_t>(m_all.lanes[lane][static_cast<std::size_t>(position)])];
  };
  while (published < state.started[lane] && is_finished(published)) ++published;
  return finish(state, event.execution);
}

std::optional<Failure> Interleaver::run_random(std::mt19937& random) const {
  if (m_all.hopeless) return m_all.hopeless;
  std::array<unsigned, kLanes> speed{};
  for (auto& s : speed) s = 1u << random() % 8;
  State state = begin();
  for (auto events = possible(state); !events.empty(); events = possible(state)) {
    unsigned total = 0;
    auto const speed_of = [&](Event const& event) { return speed[at(event.execution).lane]; };
    for (Event const& event : events) total += speed_of(event);
    unsigned dice = static_cast<unsigned>(random() % total);
    std::size_t chosen = 0;
    while (dice >= speed_of(events[chosen])) dice -= speed_of(events[chosen++]);
    if (auto const wrong = perform(state, events[chosen])) return wrong;
    state.undo.clear();
  }
  return check_results(state, static_cast<int>(m_all.executions.size()) - 1);
}

// Runs an execution from its start to its end with nothing in between.
std::optional<Failure> Interleaver::complete(State& state, int id) const {
  if (auto const wrong = start(state, id)) return wrong;
  return finish(state, id);
}

std::optional<Failure> Interleaver::run_others(State& state, int held) const {
  auto const lane_held = at(held).lane;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      while (can_start(state, lane)) {
        int const id = m_all.lanes[lane][static_cast<std::size_t>(state.started[lane])];
        if (id == held) break;
        ++state.started[lane];
        // On the lane of `held`, later items count as finished only after `held`.
        if (lane != lane_held) ++state.published[lane];
        if (auto const wrong = complete(state, id)) return wrong;
        moved = true;
      }
    }
  }
  return std::nullopt;
}

// Runs all that can go on while `held` is held back, before its start or, if `running`, before its
// end; then ends `held`. All earlier executions must have finished. `state` is as before
// afterwards.
std::optional<Failure> Interleaver::hold(State& state, int held, bool running) const {
  auto const started = state.started, published = state.published;
  state.undo.clear();
  std::optional<Failure> wrong;
  if (running) {
    ++state.started[at(held).lane];
    wrong = start(state, held);
  }
  if (!wrong) wrong = run_others(state, held);
  if (!wrong && !running) wrong = start(state, held);
  if (!wrong) wrong = finish(state, held);
  for (auto was = state.undo.rbegin(); was != state.undo.rend(); ++was) {
    state.memory[static_cast<std::size_t>(was->first)] = was->second;
  }
  state.undo.clear();
  state.started = started;
  state.published = published;
  return wrong;
}

std::optional<Failure> Interleaver::run_held(std::vector<bool> const& chosen) const {
  if (m_all.hopeless) return m_all.hopeless;
  State state = begin();
  for (int id = 0; id < static_cast<int>(m_all.executions.size()); ++id) {
    if (chosen[static_cast<std::size_t>(at(id).item)]) {
      for (bool const running : {false, true}) {
        if (auto const wrong = hold(state, id, running)) return wrong;
      }
    }
    ++state.started[at(id).lane];
    ++state.published[at(id).lane];
    if (auto const wrong = complete(state, id)) return wrong;
    if (auto const wrong = check_results(state, id)) return wrong;
    state.undo.clear();
  }
  return std::nullopt;
}

std::optional<Failure> Interleaver::run_held() const {
  return run_held(std::vector<bool>(m_program.items.size(), true));
}

std::optional<Failure> Interleaver::run_held(std::span<ItemNumber const> only) const {
  std::vector<bool> chosen(m_program.items.size(), false);
  for (ItemNumber const item : only) chosen[static_cast<std::size_t>(item)] = true;
  return run_held(chosen);
}

}  // namespace spillway::test
