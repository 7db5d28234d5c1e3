// Mistakes that a backward pass could make, planted in finished training graphs.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "support/random_program.hpp"

namespace spillway::test {

struct FaultyGraph {
  Graph graph;
  // What a backward pass without the fault would have made of the graph's forward ops.
  Graph sound;
  std::vector<TensorId> zeroed = {};  // what nobody writes any more, and is read as zero
};

// Each picks a place at random; nothing: the graph has none.
using GraphFault = std::optional<FaultyGraph> (*)(Graph const&, Random&);

// Of two contributions to one gradient, the later one replaces the sum.
std::optional<FaultyGraph> drop_accumulate(Graph const& graph, Random& draws);
// A gradient is written where another one lies that is still to be read.
std::optional<FaultyGraph> alias_gradients(Graph const& graph, Random& draws);
// A rule leaves out what one of its inputs contributes.
std::optional<FaultyGraph> ignore_wanted(Graph const& graph, Random& draws);
// Forward or backward sees another mask than the other: causal or not, or a window one key off.
std::optional<FaultyGraph> shift_mask(Graph const& graph, Random& draws);

}  // namespace spillway::test
