#include "comm/rank_wait.hpp"

#include <algorithm>
#include <functional>

namespace spillway {

RankWait wait_of(std::span<double const> by_peer) {
  RankWait own;
  for (std::size_t peer = 0; peer < by_peer.size(); ++peer) {
    own.waited_s += by_peer[peer];
    if (by_peer[peer] <= own.for_it_s) continue;
    own.most_for = static_cast<int>(peer);
    own.for_it_s = by_peer[peer];
  }
  return own;
}

void add_wait(std::span<MutualWait> all, std::size_t rank, RankWait const& wait) {
  all[rank].waited_s += wait.waited_s;
  if (wait.most_for >= 0) all[static_cast<std::size_t>(wait.most_for)].awaited_s += wait.for_it_s;
}

WaitsSince::WaitsSince(Comm const& comm)
    : m_comm(comm), m_before(comm.waited_s().size()), m_since(m_before.size()) {
  skip();
}

RankWait WaitsSince::take() {
  std::ranges::transform(m_comm.waited_s(), m_before, m_since.begin(), std::minus());
  skip();
  return wait_of(m_since);
}

void WaitsSince::skip() {
  std::ranges::copy(m_comm.waited_s(), m_before.begin());
}

}  // namespace spillway
