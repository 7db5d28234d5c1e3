// Training graphs drawn at random: what families are made of, put together in ways that none of
// them has. Parameters are shared and frozen, activations are read again by distant blocks, and
// some graphs have two stacks of rows.
#pragma once

#include <string>

#include "graph/graph.hpp"
#include "support/random_program.hpp"

namespace spillway::test {

struct Between {
  int least, most;
};

struct RandomGraphOptions {
  Between hidden{8, 24}, sequence{3, 9}, micro{1, 2}, vocab{11, 40}, layers{1, 5};
  std::string precision = "fp32";
  int ranks = 1;  // for which there are norms
};

// With backward and update; every trainable parameter lies before the loss. Equal draws, equal
// graphs.
Graph random_graph(Random& draws, RandomGraphOptions const& options = {});

}  // namespace spillway::test
