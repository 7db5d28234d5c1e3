#include "report/slow_rank.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/units.hpp"

namespace spillway {

std::optional<SlowRank> slow_rank(std::span<MutualWait const> waits, double seconds) {
  if (waits.size() < 2 || !(seconds > 0)) return {};
  auto const others = static_cast<double>(waits.size() - 1);
  std::optional<SlowRank> slow;
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    auto const wait_s = waits[rank].awaited_s / others;
    if (wait_s - waits[rank].waited_s < kSlowShare * seconds) continue;
    if (!slow || wait_s > slow->wait_s) slow = {static_cast<int>(rank), wait_s};
  }
  return slow;
}

void SlowRankWatch::add_step(double step_s, std::span<MutualWait const> waits) {
  m_waits.resize(waits.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    m_waits[rank].waited_s += waits[rank].waited_s;
    m_waits[rank].awaited_s += waits[rank].awaited_s;
  }
  m_seconds += step_s;
  ++m_steps;
}

SlowRankWatch::Look SlowRankWatch::look() {
  Look look{slow_rank(m_waits, m_seconds)};
  auto const steps = std::exchange(m_steps, 0), seconds = std::exchange(m_seconds, 0);
  m_waits.clear();
  if (look.slow) look.slow->wait_s /= steps;
  int const seen = look.slow ? look.slow->rank : -1;
  if (std::exchange(m_seen, seen) != seen) m_in_a_row = 0, m_in_a_row_s = 0;
  m_in_a_row += 1;
  m_in_a_row_s += seconds;
  bool const is_sure = m_in_a_row >= kSlowLooks && m_in_a_row_s >= kSlowSeconds;
  if (!is_sure || seen == m_slow) return look;
  look.change = {std::exchange(m_slow, seen), seen, look.slow ? look.slow->wait_s : 0,
                 seconds / steps};
  return look;
}

std::string rank_words(int rank, std::span<std::string const> hosts) {
  auto const at = static_cast<std::size_t>(rank);
  return at < hosts.size() ? fmt::format("rank {} (host {})", rank, hosts[at])
                           : fmt::format("rank {}", rank);
}

std::string wait_words(SlowRankWatch::Change const& change) {
  return fmt::format("the others wait {} of each {} step for it", human_duration(change.wait_s),
                     human_duration(change.step_s));
}

}  // namespace spillway
