// Who exchanges with whom where a network is measured.
#include "profile/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace spillway::pairs_test {
namespace {

using Peer = int (*)(NodeRanks const&, NodePlace const&, int);

// Of each rank in a round.
std::vector<int> peers(NodeRanks const& nodes, int ranks, Peer peer, int round) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back(peer(nodes, place_on_node(nodes, rank), round));
  return all;
}

TEST(Pairs, are_of_ranks_in_the_order_of_their_nodes) {
  NodeRanks const nodes = ranks_by_node(std::vector{0, 1, 0, 0, 1, 5});
  EXPECT_EQ(nodes, (NodeRanks{{0, 2, 3}, {1, 4}, {5}}));
  EXPECT_EQ(peers(nodes, 6, peer_on_node, 0), (std::vector{2, 4, 0, -1, 1, -1}));
  EXPECT_EQ(peers(nodes, 6, peer_on_node, 1), (std::vector{-1, -1, 3, 2, -1, -1}));
  EXPECT_EQ(peers(nodes, 6, peer_elsewhere, 0), (std::vector{1, 0, 4, -1, 2, -1}));
  EXPECT_EQ(peers(nodes, 6, peer_elsewhere, 1), (std::vector{-1, 5, -1, -1, -1, 1}));
}

TEST(Pairs, name_each_other_and_in_two_rounds_all_neighbours) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::vector<int> together(static_cast<std::size_t>(ranks)), apart;
    for (int rank = 0; rank < ranks; ++rank) apart.push_back(rank);
    for (auto const& [leaders, peer] :
         {std::pair<std::vector<int>, Peer>(together, peer_on_node), {apart, peer_elsewhere}}) {
      auto const nodes = ranks_by_node(leaders);
      std::set<std::pair<int, int>> seen;
      for (int const round : {0, 1}) {
        auto const all = peers(nodes, ranks, peer, round);
        for (int rank = 0; rank < ranks; ++rank) {
          int const other = all[static_cast<std::size_t>(rank)];
          if (other < 0) continue;
          EXPECT_EQ(all[static_cast<std::size_t>(other)], rank);
          seen.insert(std::minmax({rank, other}));
        }
      }
      EXPECT_EQ(std::ssize(seen), ranks - 1) << "each with the next one";
    }
  }
}

}  // namespace
}  // namespace spillway::pairs_test
