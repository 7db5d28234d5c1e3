#include "runtime/engine_state.hpp"

#include <algorithm>

#include "base/address_sanitizer.hpp"
#include "runtime/poison.hpp"

namespace spillway {

EngineState::EngineState(EngineParts engine_parts, EngineDebug engine_debug)
    : parts(std::move(engine_parts)),
      debug(engine_debug),
      watch(parts.make_watch != nullptr ? parts.make_watch(parts.program, parts.tiers) : nullptr),
      sequence(segment_sequence(parts.program)),
      doorbell(parts.tiers.spill),
      host_exec(std::make_unique<Exec>()) {
  auto const works_there = [](Item const& item) { return item.lane == Lane::host; };
  if (parts.host_threads < 2 || std::ranges::none_of(parts.program.items, works_there)) return;
  host_pool.emplace(static_cast<int>(parts.host_threads));
  host_exec = std::make_unique<Exec>(*host_pool);
}

ItemContext EngineState::context(Cursor const& cursor) {
  auto& now = run(cursor.run());
  return {now.step, cursor.micro_batch(), static_cast<int>(cursor.run() % 2), &now.record};
}

bool EngineState::is_void(BoundItem const& bound, ItemContext const& now) const {
  auto const* const go = bound.go[static_cast<std::size_t>(now.parity)];
  return go != nullptr && (*go != 1 || now.record->failures.spoils_updates());
}

void EngineState::prepare_memory(BoundItem const& bound, int parity, Stream* stream) const {
  if (!debug.poison) return;
  auto const version = static_cast<std::size_t>(parity);
  for (auto const bytes : bound.written[version]) allow_access(bytes);
  for (auto const& bytes : bound.begun[version]) {
    if (stream != nullptr)
      stream->fill(on_device(parts.tiers.device, bytes), kNoNumber);
    else
      fill_with_nan(parts.tiers.device, bytes);
  }
}

void EngineState::note_use(BoundItem const& bound) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    parts.tiers.in_use[tier].raise(bound.end[tier]);
  }
}

void EngineState::publish(Lane lane, BoundItem const& bound) {
  note_use(bound);
  publish(clocks[index(lane)]);
}

void EngineState::publish(LaneClock& clock, std::uint64_t count) {
  if (watch != nullptr) watch->publishes(&clock, clock.count() + count);
  if (clock.publish(count)) doorbell.ring();
}

void EngineState::open_gate(std::uint64_t run) {
  if (watch != nullptr) watch->prepares(run);
  publish(gate);
}

LaneClock& EngineState::clock(Lane awaited, Lane waiting) {
  auto* const other = device_lane(awaited);
  bool const in_streams = other != nullptr && device_lane(waiting) != nullptr;
  return in_streams ? other->launched() : clocks[index(awaited)];
}

void EngineState::ring_poller() {
  ++poll_bell;
  poll_bell.wake_one();
}

void EngineState::saw_end(Lane lane, std::uint64_t runs, std::uint64_t position) const {
  saw(clocks[index(lane)], position);
  if (watch != nullptr) watch->relies_on(lane, runs);
}

void EngineState::begins(Execution const& execution) const {
  if (watch != nullptr) watch->begins(execution);
}

void EngineState::has_begun(Execution const& execution) const {
  if (watch != nullptr) watch->has_begun(execution);
}

void EngineState::ends(Execution const& execution) const {
  if (watch != nullptr) watch->ends(execution);
}

void EngineState::fail(std::exception_ptr reason) {
  {
    std::scoped_lock const lock(error_mutex);
    if (!error) error = std::move(reason);
  }
  end();
}

void EngineState::end() {
  gate.fail();
  for (auto& clock : clocks) clock.fail();
  for (auto const& lane : device_lanes)
    if (lane) lane->launched().fail();
  doorbell.ring();
  ring_poller();
}

void EngineState::rethrow() {
  std::scoped_lock const lock(error_mutex);
  std::rethrow_exception(error);
}

}  // namespace spillway
