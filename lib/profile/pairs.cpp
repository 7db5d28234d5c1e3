#include "profile/pairs.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace spillway {
namespace {

// Returns which of `count` elements is paired with element `i` in a round, or -1 if none is.
int partner(int i, std::size_t count, int round) {
  int const other = ((i + round) ^ 1) - round;
  return other < static_cast<int>(count) ? other : -1;
}

}  // namespace

NodeRanks ranks_by_node(std::span<int const> leaders) {
  std::map<int, std::vector<int>> by_leader;
  for (std::size_t rank = 0; rank < leaders.size(); ++rank)
    by_leader[leaders[rank]].push_back(static_cast<int>(rank));
  NodeRanks nodes;
  for (auto& [leader, ranks] : by_leader) nodes.push_back(std::move(ranks));
  return nodes;
}

NodePlace place_on_node(NodeRanks const& nodes, int rank) {
  NodePlace place;
  for (auto const& ranks : nodes) {
    auto const here = std::ranges::find(ranks, rank);
    place.local = static_cast<int>(here - ranks.begin());
    if (here != ranks.end()) break;
    ++place.node;
  }
  return place;
}

int peer_on_node(NodeRanks const& nodes, NodePlace const& place, int round) {
  auto const& ranks = nodes[static_cast<std::size_t>(place.node)];
  int const other = partner(place.local, ranks.size(), round);
  return other < 0 ? -1 : ranks[static_cast<std::size_t>(other)];
}

int peer_elsewhere(NodeRanks const& nodes, NodePlace const& place, int round) {
  int const other = partner(place.node, nodes.size(), round);
  if (other < 0) return -1;
  auto const& ranks = nodes[static_cast<std::size_t>(other)];
  auto const local = static_cast<std::size_t>(place.local);
  return local < ranks.size() ? ranks[local] : -1;
}

}  // namespace spillway
