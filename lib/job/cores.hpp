// Finds which cores of its node a rank may use.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// Says on which cores one rank may run. A launcher gives the ranks of a node disjoint sets of
// cores, or the same set to all.
struct CoreShare {
  std::array<char, 64> host{};
  std::array<std::uint64_t, 128> mask{};  // a bit per core; Linux has at most 8192
  std::int64_t cores = 1;  // those of the mask, or fewer if a control group has a quota
};
CoreShare core_share();

// Returns how many cores `rank` has, at least 1. Ranks of its host with overlapping masks share
// their cores equally.
std::int64_t own_cores(std::span<CoreShare const> all, int rank);

// Returns the cores that `rank` alone uses, if its host has several ranks, which were all given the
// same cores, and there is a core for each of them. Then each rank gets an equal part of `near`,
// which lists the cores in an order in which neighbours share caches and memory. Returns nothing if
// the launcher has bound the ranks to different cores, or if a quota limits time on cores instead
// of cores.
std::vector<int> exclusive_cores(std::span<CoreShare const> all, int rank,
                                 std::span<int const> near);

// Returns this process's cores in an order in which neighbours share caches and memory: by socket,
// then by core, so that the hardware threads of a core follow one another.
std::vector<int> cores_by_place();

// Says what cores and threads the ranks of a run have.
struct RunCores {
  // `ranks` are those of the run, `node_ranks` those on this rank's node.
  std::int64_t ranks = 1, node_ranks = 1;
  // `mine` is how many cores this rank has, and `fewest` the smallest such number of any rank.
  std::int64_t mine = 1, fewest = 1;
  std::vector<int> exclusive_cores;  // what exclusive_cores returns for this rank
  TeamLimit limit;                   // the lowest limit of any rank
};
RunCores run_cores(Comm& comm);  // all ranks must call it
// Returns what run_cores would return on one of `ranks` ranks if all were started like this
// process, on this node.
RunCores assumed_cores(std::int64_t ranks);

}  // namespace spillway
