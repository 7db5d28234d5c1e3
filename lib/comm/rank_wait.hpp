// Says how long ranks waited for each other in collectives.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace spillway {

// Says how long a rank waited for others, and for which rank it waited longest.
struct RankWait {
  double waited_s = 0;
  int most_for = -1;  // the rank waited for longest, or -1 if none was
  double for_it_s = 0;
};

// Sums up what a rank waited for each other rank, by rank. If it waited equally long for several,
// it names the first.
RankWait wait_of(std::span<double const> by_peer);

// A MutualWait says how long a rank waited for others, and how long they waited for it: the sum
// over those that waited longest for this one.
struct MutualWait {
  double waited_s = 0, awaited_s = 0;
};
// Adds what rank `rank` has waited to the table of all ranks.
void add_wait(std::span<MutualWait> all, std::size_t rank, RankWait const& wait);

// WaitsSince tells what a rank has waited for others since it was asked before. Only the thread
// that uses the Comm at the moment may ask. It allocates nothing after its constructor.
class WaitsSince {
 public:
  explicit WaitsSince(Comm const& comm);
  RankWait take();
  void skip();  // leaves out what has passed since

 private:
  Comm const& m_comm;
  std::vector<double> m_before, m_since;  // by peer
};

}  // namespace spillway
