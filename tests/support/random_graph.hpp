// Draws random training graphs. They combine the layers of model families in ways that no family
// does: parameters are shared or frozen, distant blocks read activations again, and some graphs
// have two stacks.
#pragma once

#include "graph/graph.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

struct Between {
  int least, most;
};

struct RandomGraphOptions {
  Between hidden{8, 24}, sequence{3, 9}, micro{1, 2}, vocab{11, 40}, layers{1, 5};
  Precision precision = Precision::fp32;
  int ranks = 1;  // how many ranks' norms the graph has room for
};

// Returns a graph with backward and update ops. The loss depends on every trainable parameter.
// Equal states of `draws` give equal graphs.
Graph random_graph(Random& draws, RandomGraphOptions const& options = {});

}  // namespace spillway::test
