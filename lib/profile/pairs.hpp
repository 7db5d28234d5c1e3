// Pairs of ranks that exchange bytes at the same time.
#pragma once

#include <span>
#include <vector>

namespace spillway {

// Ranks by node, in their order; `nodes[i][k]` is the k-th rank of the i-th node.
using NodeRanks = std::vector<std::vector<int>>;
// `leaders[r]` is the lowest rank on rank r's node.
NodeRanks ranks_by_node(std::span<int const> leaders);

// The k-th rank of the i-th node.
struct NodePlace {
  int node = 0, local = 0;
};
NodePlace place_on_node(NodeRanks const& nodes, int rank);

// Returns the rank beside it in a pair, on its own node or, in the same place, on another one. In
// two rounds every rank has had every neighbour that it has. -1: none in this round (0 or 1).
int peer_on_node(NodeRanks const& nodes, NodePlace const& place, int round);
int peer_elsewhere(NodeRanks const& nodes, NodePlace const& place, int round);

}  // namespace spillway
