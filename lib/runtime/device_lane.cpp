#include "runtime/device_lane.hpp"

#include <algorithm>

#include "runtime/engine_state.hpp"

namespace spillway {

DeviceLane::DeviceLane(EngineState& state, Lane lane, std::unique_ptr<Stream> stream)
    : m_state(state), m_lane(lane), m_stream(std::move(stream)) {}

void DeviceLane::prepare(std::vector<bool> const& awaited) {
  auto& device = m_state.parts.tiers.device;
  m_entries.resize(kRuns * awaited.size());
  for (std::size_t i = 0; i < m_entries.size(); ++i) {
    m_entries[i].begin = device.event();
    m_entries[i].end = device.event();
    m_entries[i].awaited = awaited[i % awaited.size()];
  }
}

void DeviceLane::launch(Cursor const& cursor, Item const& item, bool works) {
  auto const& bound = m_state.items[static_cast<std::size_t>(item.number)];
  auto& run = m_state.run(cursor.run());
  auto& next = entry(m_launched.count() + 1);
  next.bound = &bound;
  next.run = &run;
  next.instance = cursor.instance();
  Execution const execution{cursor.run(), cursor.instance(), item.number};
  m_state.begins(execution);
  wait_in_stream(cursor, item, next);
  m_stream->record(*next.begin);
  if (works) {
    auto const context = m_state.context(cursor);
    m_state.prepare_memory(bound, context.parity, m_stream.get());
    bound.run(context);
  }
  m_stream->record(*next.end);
  m_state.has_begun(execution);
  m_state.ends(execution);
  m_state.note_use(bound);
  m_state.publish(m_launched);
  if (next.awaited) m_state.ring_poller();
}

void DeviceLane::wait_in_stream(Cursor const& cursor, Item const& item, LaunchedItem& entry) {
  entry.last_awaited_lane.reset();
  for (auto const wait : item.waits) {
    auto const position = cursor.position(wait);
    if (position == 0) continue;  // no instance of that item has run yet
    auto const earlier = m_state.lane_of(wait);
    entry.last_awaited_lane = earlier;
    if (auto* const other = m_state.device_lane(earlier))
      m_stream->wait(*other->entry(position).end);
  }
}

DeviceLane::Poll DeviceLane::poll() {
  auto const launched = m_launched.count();
  auto position = m_ended + 1;
  while (position <= launched && !entry(position).awaited) ++position;
  if (position > launched) return Poll::nothing_awaited;
  m_state.acts_for(this);
  m_state.saw(m_launched, position);
  auto const& last = entry(position);
  if (!last.end->done() || !has_begun(*last.run)) return Poll::not_yet;
  for (auto ended = m_ended + 1; ended <= position; ++ended) note_times(entry(ended));
  auto const count = position - std::exchange(m_ended, position);
  m_state.publish(m_state.clocks[index(m_lane)], count);
  return Poll::ended;
}

// Returns whether the event at the beginning of the run is done, from which times are counted. Once
// it is done, the lane does not ask for it again.
bool DeviceLane::has_begun(Run& run) const {
  auto& known = run.begin_is_known[index(m_lane)];
  known = known || run.device_begin->done();
  return known;
}

// A stream runs one item after the other, so an item is ready when the item before it has ended.
void DeviceLane::note_times(LaunchedItem const& entry) {
  auto& run = *entry.run;
  auto& time = run.times[entry.instance];
  auto const& base = *run.device_begin;
  if (entry.instance <= m_last_instance) m_last_end_s = 0;  // the last item belonged to another run
  time.start_s = std::max(0.0, entry.begin->seconds_since(base));
  time.end_s = std::max(0.0, entry.end->seconds_since(base));
  time.ready_s = std::min(m_last_end_s, time.start_s);
  m_last_end_s = time.end_s;
  m_last_instance = entry.instance;
  auto& tally = m_state.tallies[index(m_lane)];
  auto const stall_s = time.start_s - time.ready_s;
  tally.stall_s.add(stall_s);
  tally.busy_s.add(time.end_s - time.start_s);
  tally.bytes.add(entry.bound->bytes);
  if (m_lane != Lane::compute) return;
  m_state.compute_work_s[index(entry.bound->part)].add(time.end_s - time.start_s);
  if (entry.last_awaited_lane)
    m_state.compute_stall_s[index(*entry.last_awaited_lane)].add(stall_s);
}

}  // namespace spillway
