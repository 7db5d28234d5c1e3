// Computes gradient norms slice by slice, as ranks do that hold one slice each. A fault can
// misplace a norm tile at the edge of a slice.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

struct SlicedNorms {
  Graph graph;          // the given graph and, in addition, an op for each slice
  TensorId norms = -1;  // the tensor that these ops write, of the form of WellKnown::norms
  // These elements of this chunk were counted by the wrong rank, by none or by two.
  int chunk = -1;
  ElementRange misplaced = {};
};

SlicedNorms slice_norms(Graph const& graph);
// Like slice_norms, but at the edge between two ranks' slices of one chunk the neighbour counts a
// tile, nobody does or both do. Returns nothing if no chunk has such an edge.
std::optional<SlicedNorms> misplace_norm_tile(Graph const& graph, Random& draws);

}  // namespace spillway::test
