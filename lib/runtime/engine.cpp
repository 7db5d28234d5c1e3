#include "runtime/engine.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/give_way.hpp"
#include "runtime/locked_allocator.hpp"
#include "runtime/poison.hpp"

namespace spillway {
namespace {

// Returns the seconds that a wait took, or nothing if the engine has failed. If the count is
// already there, returns 0 without looking at the time.
std::optional<double> timed_wait(LaneClock const& clock, std::uint64_t count) {
  if (clock.count() >= count && !clock.failed()) return 0;
  auto const begin = SteadyClock::now();
  if (!clock.wait_for(count)) return std::nullopt;
  return seconds_since(begin);
}

}  // namespace

StepResult Engine::run_step(std::int64_t step) {
  // A run may begin when the run before the last one has ended. With debug.poison all runs must
  // have ended, because forbid_transients then forbids access to bytes that they could still use.
  auto const barrier = m_state.debug.poison ? m_runs : std::max<std::uint64_t>(m_runs, 1) - 1;
  auto const begin = SteadyClock::now();
  if (!wait_for_room(barrier)) m_state.rethrow();
  tell_trace(barrier);
  auto& run = m_state.run(m_runs);
  run.step = step;
  run.begin = begin;
  run.record.failures.reset();
  std::ranges::fill(run.record.waits, MutualWait{});
  if (m_state.debug.poison) forbid_transients();
  run.begin_is_known = {};
  if (m_state.begin_stream) m_state.begin_stream->record(*run.device_begin);
  m_state.open_gate(m_runs++);
  bool done = false;
  try {
    done = walk(*m_compute) && wait_for_lane(Lane::compute, m_runs) && wait_for_end();
  } catch (...) {
    m_state.fail(std::current_exception());
  }
  if (!done) m_state.rethrow();
  return collect();
}

void Engine::finish() {
  if (!wait_for_lanes(m_runs)) m_state.rethrow();
  tell_trace(m_runs);
  if (m_state.state_lost) throw Error(Status::storage, m_state.parts.tiers.spill->first_failure());
}

bool Engine::storage_failed() const {
  return m_state.runs[(m_runs + 1) % 2].record.failures.any();
}

void Engine::work(Worker& worker) {
  try {
    while (m_state.gate.wait_for(worker.cursor.run() + 1)) {
      m_state.saw(m_state.gate, worker.cursor.run() + 1);
      if (!walk(worker)) return;
    }
  } catch (...) {
    m_state.fail(std::current_exception());
  }
}

void Engine::transfer() {
  try {
    m_transfers->run();
  } catch (...) {
    m_state.fail(std::current_exception());
  }
  m_transfers->drain();  // the memory of transfers must exist until they have ended
}

void Engine::poll() {
  try {
    while (!m_state.gate.failed()) {
      auto const bell = m_state.poll_bell.load();
      bool some_awaited = false, some_ended = false;
      for (auto const& lane : m_state.device_lanes) {
        if (lane == nullptr) continue;
        auto const found = lane->poll();
        some_awaited |= found != DeviceLane::Poll::nothing_awaited;
        some_ended |= found == DeviceLane::Poll::ended;
      }
      if (!some_awaited)
        m_state.poll_bell.sleep_while(bell);
      else if (!some_ended)
        give_way();
    }
  } catch (...) {
    m_state.fail(std::current_exception());
  }
}

bool Engine::walk(Worker& worker) {
  auto& cursor = worker.cursor;
  AllocatorLock const lock(worker.locked && cursor.run() > 0);
  while (auto const* item = cursor.next()) {
    if (!execute(cursor, *item)) return false;
    cursor.pass();
  }
  cursor.next_run();
  return true;
}

bool Engine::execute(Cursor const& cursor, Item const& item) {
  if (auto* const lane = m_state.device_lane(item.lane)) {
    if (!wait_for_all(cursor, item)) return false;
    lane->launch(cursor, item, true);
    return true;
  }
  auto const& bound = m_state.items[static_cast<std::size_t>(item.number)];
  auto& run = m_state.run(cursor.run());
  auto& time = run.times[cursor.instance()];
  time.ready_s = run.elapsed_s();
  if (!wait_for_all(cursor, item)) return false;
  time.start_s = run.elapsed_s();
  auto const context = m_state.context(cursor);
  m_state.prepare_memory(bound, context.parity);
  Execution const execution{cursor.run(), cursor.instance(), item.number};
  m_state.begins(execution);
  bound.run(context);
  m_state.has_begun(execution);
  m_state.ends(execution);
  time.end_s = run.elapsed_s();
  auto& tally = m_state.tallies[index(item.lane)];
  tally.stall_s.add(time.start_s - time.ready_s);
  tally.busy_s.add(time.end_s - time.start_s);
  tally.bytes.add(bound.bytes);
  if (item.lane == Lane::compute)
    m_state.compute_work_s[index(bound.part)].add(time.end_s - time.start_s);
  m_state.publish(item.lane, bound);
  return true;
}

bool Engine::wait_for_all(Cursor const& cursor, Item const& item) {
  for (auto const wait : item.waits) {
    auto const lane = m_state.lane_of(wait);
    auto const& clock = m_state.clock(lane, item.lane);
    auto const waited_s = timed_wait(clock, cursor.position(wait));
    if (!waited_s) return false;
    m_state.saw(clock, cursor.position(wait));
    bool const on_thread = item.lane == Lane::compute && m_state.device_lane(item.lane) == nullptr;
    if (on_thread) m_state.compute_stall_s[index(lane)].add(*waited_s);
  }
  return true;
}

bool Engine::wait_for_lane(Lane lane, std::uint64_t runs) const {
  auto const position = runs * m_items_per_run[index(lane)];
  if (!m_state.clocks[index(lane)].wait_for(position)) return false;
  m_state.saw_end(lane, runs, position);
  return true;
}

// Returns how many items the comm lane has done when the commit of the run, and its report, are.
std::uint64_t Engine::decision_position() const {
  return (m_runs - 1) * m_items_per_run[index(Lane::comm)] + m_items_to_decision;
}

// Waits until the commit of the run, and its report, are done. The caller has to talk to the other
// ranks about a failure, so then nothing else may be on the lane.
bool Engine::wait_for_decision() const {
  auto const each = m_items_per_run[index(Lane::comm)];
  auto const position = decision_position();
  auto const& clock = m_state.clocks[index(Lane::comm)];
  if (!clock.wait_for(position)) return false;
  m_state.saw(clock, position);
  auto const word = m_state.runs[(m_runs - 1) % 2].record.decision.word;
  bool const failed = word == CommitWord::storage_error || word == CommitWord::state_lost;
  bool const is_end = m_items_to_decision == each;
  return is_end || failed ? wait_for_lane(Lane::comm, m_runs) : true;
}

// Waits for what besides compute must have ended before a step's result is known.
bool Engine::wait_for_end() {
  auto const data_items = m_runs * m_items_per_run[index(Lane::data)];
  return stall_for(Lane::data, data_items) && wait_for_lane(Lane::data, m_runs) &&
         stall_for(Lane::comm, decision_position()) && wait_for_decision();
}

// Waits until a lane has done `items` items. The time counts as a stall of the compute lane.
bool Engine::stall_for(Lane lane, std::uint64_t items) {
  auto const waited_s = timed_wait(m_state.clocks[index(lane)], items);
  if (!waited_s) return false;
  m_state.compute_stall_s[index(lane)].add(*waited_s);
  m_state.tallies[index(Lane::compute)].stall_s.add(*waited_s);
  return true;
}

// Waits until all lanes have done `runs` runs. The time counts as a stall of the compute lane.
bool Engine::wait_for_room(std::uint64_t runs) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    auto const position = runs * m_items_per_run[lane];
    if (!stall_for(static_cast<Lane>(lane), position)) return false;
    m_state.saw_end(static_cast<Lane>(lane), runs, position);
  }
  return true;
}

bool Engine::wait_for_lanes(std::uint64_t runs) const {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (!wait_for_lane(static_cast<Lane>(lane), runs)) return false;
  }
  return true;
}

bool Engine::gathers() const {
  return std::ranges::any_of(m_state.parts.program.items,
                             [](Item const& item) { return item.kind == ItemKind::all_gather; });
}

void Engine::read_own_loss(StepResult& result) const {
  auto const loss = bytes(m_state.parts.program.known.loss);
  if (loss.size() < 2 * sizeof(double)) return;
  std::memcpy(&result.loss_sum, loss.data(), sizeof(double));
  std::memcpy(&result.weight_sum, loss.data() + sizeof(double), sizeof(double));
}

// Tells the trace of the runs before number `runs`, which all lanes have done.
void Engine::tell_trace(std::uint64_t runs) {
  if (!m_state.parts.trace) return;
  for (; m_runs_told < runs; ++m_runs_told) {
    auto const& run = m_state.run(m_runs_told);
    m_state.parts.trace({run.step, run.begin, run.step_s, run.record.decision.word, run.times});
  }
}

StepResult Engine::collect() {
  auto& run = m_state.run(m_runs - 1);
  auto const& record = run.record;
  StepResult result;
  result.step_s = run.step_s = run.elapsed_s();
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    auto& tally = m_state.tallies[lane];
    result.lanes.use[lane] = {tally.busy_s.take(), tally.stall_s.take(), tally.bytes.take()};
    result.lanes.compute_stall_s[lane] = m_state.compute_stall_s[lane].take();
  }
  for (std::size_t part = 0; part < kWorkParts; ++part)
    result.lanes.compute_work_s[part] = m_state.compute_work_s[part].take();
  result.loss_sum = record.sums.loss_sum;
  result.weight_sum = record.sums.weight_sum;
  if (!m_has_commit) {
    if (record.failures.any())
      throw Error(Status::storage, m_state.parts.tiers.spill->first_failure());
    read_own_loss(result);
  }
  result.word = record.decision.word;
  result.note = record.note;
  result.waits = record.waits;
  result.grad_norm = record.decision.grad_norm;
  result.learning_rate = record.decision.learning_rate;
  return result;
}

}  // namespace spillway
