#include "runtime/transfer_lanes.hpp"

#include <algorithm>

#include "runtime/locked_allocator.hpp"

namespace spillway {
namespace {

constexpr std::size_t kMostStarted = 64;  // items of a lane that are not yet published

// Returns the tag of a transfer in the spill file, which says to which item of which lane it
// belongs.
constexpr std::uint64_t tag(std::size_t walk, std::uint64_t number) {
  return number << 8 | walk;
}

}  // namespace

TransferLanes::TransferLanes(EngineState& state, unsigned lanes) : m_state(state) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    auto const bit = 1u << lane;
    if ((lanes & kBits & bit) == 0) continue;
    m_walks.push_back({.lane = static_cast<Lane>(lane),
                       .cursor = Cursor(state.parts.program, state.sequence, bit),
                       .started = std::vector<Started>(kMostStarted)});
  }
  m_obstacles.reserve(m_walks.size());
}

void TransferLanes::run() {
  while (!m_state.gate.failed()) {
    AllocatorLock const lock(m_state.debug.locked_allocator && past_first_run());
    m_obstacles.clear();
    bool moved = reap();
    for (std::size_t walk = 0; walk < m_walks.size(); ++walk) moved = start_next(walk) || moved;
    if (!moved) sleep();
  }
}

void TransferLanes::drain() {
  while (m_under_way > 0) {
    if (m_state.parts.tiers.spill->wait(SpillFile::kForever_s)) --m_under_way;
  }
}

bool TransferLanes::past_first_run() const {
  return std::ranges::all_of(m_walks, [](auto const& walk) { return walk.cursor.run() > 0; });
}

// Finishes all transfers that have ended by now. Returns whether there were any.
bool TransferLanes::reap() {
  bool some = false;
  while (m_under_way > 0) {
    auto const done = m_state.parts.tiers.spill->wait(0);
    if (!done) break;
    finish(*done);
    some = true;
  }
  return some;
}

// Starts the lane's next item. If the item cannot start now, notes the obstacle and returns false.
bool TransferLanes::start_next(std::size_t number) {
  auto& walk = m_walks[number];
  m_state.acts_for(&walk);
  auto const* item = walk.cursor.next();
  if (!item) {
    walk.cursor.next_run();
    item = walk.cursor.next();
  }
  if (auto const found = obstacle(walk, *item)) {
    m_obstacles.push_back(*found);
    return false;
  }
  start(number, *item);
  walk.cursor.pass();
  walk.ready_noted = false;
  return true;
}

std::optional<TransferLanes::Obstacle> TransferLanes::obstacle(Walk& walk, Item const& item) {
  auto const run = walk.cursor.run();
  if (m_state.gate.count() <= run) return Obstacle{&m_state.gate, run + 1};
  m_state.saw(m_state.gate, run + 1);
  if (!walk.ready_noted) {
    auto& now = m_state.run(run);
    now.times[walk.cursor.instance()].ready_s = now.elapsed_s();
    walk.ready_noted = true;
  }
  for (auto const wait : item.waits) {
    auto& clock = m_state.clock(m_state.lane_of(wait), walk.lane);
    auto const position = walk.cursor.position(wait);
    if (clock.count() < position) return Obstacle{&clock, position};
    m_state.saw(clock, position);
  }
  bool const stores = m_state.items[static_cast<std::size_t>(item.number)].transfer.has_value();
  bool const room =
      walk.begun - walk.published < kMostStarted && !(stores && m_state.parts.tiers.spill->full());
  if (!room) return Obstacle{};
  return {};
}

void TransferLanes::start(std::size_t number, Item const& item) {
  auto& walk = m_walks[number];
  auto const& bound = m_state.items[static_cast<std::size_t>(item.number)];
  auto& run = m_state.run(walk.cursor.run());
  auto& time = run.times[walk.cursor.instance()];
  auto const context = m_state.context(walk.cursor);
  bool const works = !m_state.is_void(bound, context);
  if (auto* const lane = m_state.device_lane(walk.lane))
    return lane->launch(walk.cursor, item, works);
  auto& started = walk.started[walk.begun % kMostStarted];
  started = {&bound, &run, {walk.cursor.run(), walk.cursor.instance(), item.number}, true};
  time.start_s = run.elapsed_s();
  auto& tally = m_state.tallies[index(walk.lane)];
  tally.stall_s.add(time.start_s - time.ready_s);
  m_state.begins(started.instance);
  if (works) {
    m_state.prepare_memory(bound, context.parity);
    if (bound.transfer) {
      auto transfer = bound.transfer->versions[static_cast<std::size_t>(context.parity)];
      transfer.tag = tag(number, walk.begun);
      started.done = false;
      ++m_under_way;
      if (walk.under_way++ == 0) walk.busy_since = SteadyClock::now();
      m_state.parts.tiers.spill->begin(transfer);
    } else {
      bound.run(context);
      tally.busy_s.add(run.elapsed_s() - time.start_s);
      tally.bytes.add(bound.bytes);
    }
  }
  m_state.has_begun(started.instance);
  time.end_s = run.elapsed_s();
  ++walk.begun;
  publish(walk);
}

// A failed transfer is noted and then treated as done. The commit tells the other ranks of it.
void TransferLanes::finish(SpillDone const& done) {
  auto& walk = m_walks[done.tag & 0xff];
  auto& started = walk.started[(done.tag >> 8) % kMostStarted];
  auto const& transfer = *started.bound->transfer;
  auto& run = *started.run;
  --m_under_way;
  if (done.result != IoResult::ok && run.record.failures.note(transfer.matters))
    m_state.state_lost = true;
  auto& tally = m_state.tallies[index(walk.lane)];
  tally.bytes.add(std::ssize(transfer.versions[0].memory));
  if (--walk.under_way == 0) tally.busy_s.add(seconds_since(walk.busy_since));
  run.times[started.instance.instance].end_s = run.elapsed_s();
  started.done = true;
  publish(walk);
}

// Publishes the items that are done, up to the first one that is not. Transfers of the drive end by
// themselves while their lane starts others, so the OrderWatch hears of their ends as acts of a
// lane of their own.
void TransferLanes::publish(Walk& walk) {
  bool const by_itself = walk.lane == Lane::nvme_read || walk.lane == Lane::nvme_write;
  m_state.acts_for(by_itself ? static_cast<void const*>(&walk.published) : &walk);
  while (walk.published < walk.begun) {
    auto const& first = walk.started[walk.published % kMostStarted];
    if (!first.done) return;
    m_state.ends(first.instance);
    ++walk.published;
    m_state.publish(walk.lane, *first.bound);
  }
}

void TransferLanes::sleep() {
  using Sleeper = Doorbell::Sleeper;
  auto& doorbell = m_state.doorbell;
  bool const in_storage = m_under_way > 0;
  auto const bell = doorbell.announce(in_storage ? Sleeper::in_storage : Sleeper::on_bell);
  bool over = m_state.gate.failed();
  for (auto const& [clock, position] : m_obstacles) {
    if (!clock) continue;
    clock->set_alarm(position);
    over = over || clock->count() >= position;
  }
  if (!over && in_storage) {
    if (auto const done = m_state.parts.tiers.spill->wait(SpillFile::kForever_s)) finish(*done);
  } else if (!over) {
    doorbell.sleep(bell);
  }
  doorbell.stop_sleeping();
}

}  // namespace spillway
