// Which cores a rank may call its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// What one rank may run on. A launcher gives ranks of a node disjoint sets, or all of them the
// same.
struct CoreShare {
  std::array<char, 64> host{};
  std::array<std::uint64_t, 128> mask{};  // a bit per core, of which Linux counts no more
  std::int64_t cores = 1;                 // of the mask, or fewer where a control group has a quota
};
CoreShare core_share();

// The cores of `rank`, divided among the ranks of its host whose masks overlap its own; at least 1.
std::int64_t own_cores(std::span<CoreShare const> all, int rank);

// Those cores themselves, where the ranks of a host were given the same ones and there are enough:
// equal parts of `near`, the mask's cores in an order in which neighbours share caches and memory.
// Empty where the launcher has bound the ranks, or a quota counts time and not cores.
std::vector<int> own_part(std::span<CoreShare const> all, int rank, std::span<int const> near);

// This process's cores in such an order: sockets, then cores with their hardware threads.
std::vector<int> cores_by_place();

// What the ranks of a run have.
struct RunCores {
  std::int64_t ranks = 1, node_ranks = 1;  // of the run, and of this rank's node
  std::int64_t mine = 1, fewest = 1;       // this rank's share, and the smallest
  std::vector<int> part;                   // own_part of this rank
  TeamLimit limit;                         // the lowest of all ranks
};
RunCores run_cores(Comm& comm);  // collective
// What one of `ranks` would have that were all started like this process, on its node.
RunCores assumed_cores(std::int64_t ranks);

}  // namespace spillway
