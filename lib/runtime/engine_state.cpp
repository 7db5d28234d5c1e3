#include "runtime/engine_state.hpp"

#include <algorithm>

#include "runtime/poison.hpp"

namespace spillway {

ItemContext EngineState::context(Cursor const& cursor) {
  auto& now = run(cursor.run());
  return {now.step, cursor.micro_batch(), static_cast<int>(cursor.run() % 2), &now.record};
}

bool EngineState::is_void(BoundItem const& bound, ItemContext const& now) const {
  auto const* const go = bound.go[static_cast<std::size_t>(now.parity)];
  return go != nullptr && (*go != 1 || now.record->failures.spoils_updates());
}

void EngineState::prepare_memory(BoundItem const& bound, int parity) const {
  if (!debug.poison) return;
  auto const version = static_cast<std::size_t>(parity);
  for (auto const bytes : bound.written[version]) allow_access(bytes);
  for (auto const bytes : bound.begun[version]) fill_with_nan(bytes);
}

void EngineState::publish(Lane lane, BoundItem const& bound) {
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    parts.tiers.in_use[tier].raise(bound.end[tier]);
  }
  if (clocks[index(lane)].publish()) doorbell.ring();
}

void EngineState::open_gate() {
  if (gate.publish()) doorbell.ring();
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
  doorbell.ring();
}

void EngineState::rethrow() {
  std::scoped_lock const lock(error_mutex);
  std::rethrow_exception(error);
}

}  // namespace spillway
