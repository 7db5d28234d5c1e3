// The backward pass of a graph, block by block.
#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace spillway {

// One block's backward ops, in order.
struct BackwardGroup {
  int block = -1;
  std::vector<int> ops;
};
std::vector<BackwardGroup> backward_groups(Graph const& graph);

}  // namespace spillway
