#include "tests/support/cuda/meetings.hpp"

#include <algorithm>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {

void Meetings::release(void const* count, std::uint64_t until, Clock const& known) {
  auto& releases = m_counts[count];
  Release next{until, releases.empty() ? Clock{} : releases.back().known, {}};
  (m_releases++ == m_dropped ? next.hidden : next.known).join(known);
  releases.push_back(std::move(next));
}

void Meetings::acquire(void const* count, std::uint64_t position, Component& by) {
  if (position == 0) return;
  auto const& releases = m_counts[count];
  auto const at = std::ranges::lower_bound(releases, position, {}, &Release::until);
  if (at == releases.end()) return complain("somebody has seen a count that nobody has published");
  by.acquire(at->known);
  if (!by.clock().knows(at->hidden)) m_dropped_was_of_use = true;
}

}  // namespace spillway::test::cuda
