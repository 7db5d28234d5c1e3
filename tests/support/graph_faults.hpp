// Plants mistakes that a backward pass could make in finished training graphs.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

struct FaultyGraph {
  Graph graph;
  // This is the graph that a correct backward pass makes of the same forward ops.
  Graph sound;
  // No op writes these tensors any more. Whoever runs the graph must fill them with zeros first.
  std::vector<TensorId> zeroed = {};
};

// A GraphFault copies the graph and plants its fault in the copy, at a place drawn at random. It
// returns nothing if the graph has no place for the fault.
using GraphFault = std::optional<FaultyGraph> (*)(Graph const&, Random&);

// The later of two contributions to a gradient is written instead of their sum.
std::optional<FaultyGraph> drop_accumulate(Graph const& graph, Random& draws);
// A gradient is written over another one that is still to be read.
std::optional<FaultyGraph> alias_gradients(Graph const& graph, Random& draws);
// One gradient lacks what a backward op should contribute to it.
std::optional<FaultyGraph> drop_contribution(Graph const& graph, Random& draws);
// The forward and the backward pass of an attention op use different masks: one of them is causal
// and the other is not, or their windows differ by one key.
std::optional<FaultyGraph> shift_mask(Graph const& graph, Random& draws);

}  // namespace spillway::test
