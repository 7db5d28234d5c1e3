// Chooses pairs of ranks that exchange bytes at the same time.
#pragma once

#include <span>
#include <vector>

namespace spillway {

// NodeRanks lists ranks by node in their order: `nodes[i][k]` is the k-th rank of the i-th node.
using NodeRanks = std::vector<std::vector<int>>;
// Returns the ranks by node. `leaders[r]` must be the lowest rank on rank r's node.
NodeRanks ranks_by_node(std::span<int const> leaders);

// A NodePlace says that a rank is number `local` of the ranks of node number `node`, both from 0.
struct NodePlace {
  int node = 0, local = 0;
};
NodePlace place_on_node(NodeRanks const& nodes, int rank);

// These return the rank with which the rank at `place` exchanges in round 0 or 1, or -1 if there is
// none. It is on the same node or, in the same place, on another node. After both rounds every rank
// has been in a pair with each of its neighbours.
int peer_on_node(NodeRanks const& nodes, NodePlace const& place, int round);
int peer_elsewhere(NodeRanks const& nodes, NodePlace const& place, int round);

}  // namespace spillway
