#include "plan/trace/live_counters.hpp"

#include <algorithm>

namespace spillway {

LiveCounters::LiveCounters(Program const& program) {
  auto const stays = lifetimes(program);
  for (Tier const tier : kTiersInOrder) {
    auto const has_tier = [tier](Buffer const& buffer) { return buffer.tier == tier; };
    if (std::ranges::any_of(program.buffers, has_tier))
      m_live[tier] = live_bytes(program, stays, tier);
  }
}

void LiveCounters::begin_step() {
  m_most.fill(0);
  m_told.fill(-1);
}

void LiveCounters::pass(ItemNumber item) {
  for (Tier const tier : kTiersInOrder)
    if (!m_live[tier].empty()) m_most[tier] = std::max(m_most[tier], m_live[tier][item]);
}

void LiveCounters::tell(std::function<void(Tier, std::int64_t)> const& tell) {
  for (Tier const tier : kTiersInOrder) {
    if (m_live[tier].empty()) continue;
    if (m_most[tier] != m_told[tier]) tell(tier, m_most[tier]);
    m_told[tier] = m_most[tier];
  }
  m_most.fill(0);
}

}  // namespace spillway
