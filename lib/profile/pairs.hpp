// Chooses pairs of ranks that exchange bytes at the same time.
#pragma once

#include <span>
#include <vector>

namespace spillway {

// In a NodeRanks, `nodes[i]` lists the ranks of the i-th node in ascending order.
using NodeRanks = std::vector<std::vector<int>>;
// Returns the ranks by node. `leaders[r]` must be the lowest rank on rank r's node.
NodeRanks ranks_by_node(std::span<int const> leaders);

// A NodePlace says that a rank is number `local` of the ranks of node number `node`, both from 0.
struct NodePlace {
  int node = 0, local = 0;
};
NodePlace place_on_node(NodeRanks const& nodes, int rank);

// Both functions return the rank with which the rank at `place` exchanges in round 0 or 1, or -1 if
// there is none. peer_on_node returns one of the same node, and peer_elsewhere one that has the
// same number `local` on another node. After both rounds every rank has been in a pair with each of
// its neighbours.
int peer_on_node(NodeRanks const& nodes, NodePlace const& place, int round);
int peer_elsewhere(NodeRanks const& nodes, NodePlace const& place, int round);

}  // namespace spillway
