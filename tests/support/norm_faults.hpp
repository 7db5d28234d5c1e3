// Norms taken slice by slice, as ranks do it that hold their own alone: rightly, or with a tile at
// a slice's edge misplaced.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "support/random_program.hpp"

namespace spillway::test {

struct SlicedNorms {
  Graph graph;          // with an op for each slice beside those for whole chunks
  TensorId norms = -1;  // what these ops write, as WellKnown::norms
  // Of this chunk these elements were counted by another rank, by none or by two.
  int chunk = -1;
  ElementRange misplaced = {};
};

SlicedNorms slice_norms(Graph const& graph);
// At the edge between two ranks' slices of some chunk a tile is counted by the neighbour, left out
// or counted twice. Nothing: no chunk has such an edge.
std::optional<SlicedNorms> misplace_norm_tile(Graph const& graph, Random& draws);

}  // namespace spillway::test
