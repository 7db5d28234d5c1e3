// Adds ops to a graph that compute gradient norms slice by slice, as ranks do that hold one slice
// each. As a planted fault, a norm tile at the edge of a slice may be counted wrongly.
#pragma once

#include <optional>

#include "graph/graph.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test {

struct SlicedNorms {
  Graph graph;          // the given graph and, in addition, an op for each slice
  TensorId norms = -1;  // the tensor that these ops write, as large as WellKnown::norms
  // The wrong rank, no rank or two ranks count the elements `misplaced` of chunk `chunk`, which is
  // -1 if no fault was planted.
  int chunk = -1;
  ElementRange misplaced = {};
};

// Adds a norm op for the slice that each rank has of each trainable chunk.
SlicedNorms slice_norms(Graph const& graph);
// Adds the norm ops that slice_norms() adds, but moves the edge between two ranks' slices of one
// chunk by a tile, so that the wrong rank, no rank or both ranks count the tile. Returns nothing if
// no chunk has two slices that are not empty.
std::optional<SlicedNorms> misplace_norm_tile(Graph const& graph, Random& draws);

}  // namespace spillway::test
