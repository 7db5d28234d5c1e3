#include "tests/support/norm_faults.hpp"

#include <algorithm>

#include "graph/gradient_slice.hpp"

namespace spillway::test {

namespace {

using Ranges = std::vector<ElementRange>;

Ranges slices(Graph const& graph, Chunk const& chunk) {
  Ranges all;
  for (std::int64_t rank = 0; rank < graph.arithmetic.ranks; ++rank) {
    auto const slice = gradient_slice(chunk.elements, rank, graph.arithmetic.ranks);
    all.push_back({slice.first, slice.first + slice.count});
  }
  return all;
}

Op const& norm_of(Graph const& graph, Chunk const& chunk) {
  return *std::ranges::find_if(
      graph.ops, [&](Op const& op) { return op.phase == Phase::norm && op.chunk == chunk.id; });
}

void add_norms(SlicedNorms& to, Chunk const& chunk, Ranges const& ranges) {
  auto const whole = norm_of(to.graph, chunk);
  auto next = whole.outputs[0].offset;
  for (auto const& range : ranges) {
    Op op = whole;
    op.id = op.origin = static_cast<int>(to.graph.ops.size());
    op.inputs = {{chunk.gradient, range.first, {range.last - range.first}, {1}}};
    op.outputs = {{to.norms, next++, {1}, {1}}};
    op.attributes = UpdateRange{range.first};
    to.graph.ops.push_back(std::move(op));
  }
}

SlicedNorms with_tensor(Graph const& graph) {
  SlicedNorms sliced{graph, static_cast<TensorId>(graph.tensors.size())};
  auto norms = graph.tensors[static_cast<std::size_t>(graph.known.norms)];
  norms.id = sliced.norms;
  sliced.graph.tensors.push_back(norms);
  return sliced;
}

// An Edge lies between the slices of `rank` and of the next rank.
struct Edge {
  int chunk;
  std::size_t rank;
};

std::vector<Edge> edges(Graph const& graph) {
  std::vector<Edge> all;
  for (Chunk const& chunk : graph.chunks) {
    if (!chunk.trainable) continue;
    auto const ranges = slices(graph, chunk);
    for (std::size_t r = 0; r + 1 < ranges.size(); ++r)
      if (ranges[r + 1].first < chunk.elements) all.push_back({chunk.id, r});
  }
  return all;
}

// Moves the end of one slice, or the beginning of the next, or both, by one tile. Returns the
// elements between the old edge and the moved ones.
ElementRange shift_edge(ElementRange& before, ElementRange& behind, std::int64_t elements,
                        Random& draws) {
  auto const edge = behind.first;
  constexpr struct {
    int before, behind;  // in tiles
  } shifts[] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}};
  auto const& shift = shifts[below(draws, std::size(shifts))];
  before.last = std::min(edge + shift.before * kNormTile, elements);
  behind.first = std::min(edge + shift.behind * kNormTile, elements);
  return {std::min({before.last, behind.first, edge}), std::max({before.last, behind.first, edge})};
}

}  // namespace

SlicedNorms slice_norms(Graph const& graph) {
  auto sliced = with_tensor(graph);
  for (Chunk const& chunk : graph.chunks)
    if (chunk.trainable) add_norms(sliced, chunk, slices(graph, chunk));
  return sliced;
}

std::optional<SlicedNorms> misplace_norm_tile(Graph const& graph, Random& draws) {
  auto const places = edges(graph);
  if (places.empty()) return {};
  auto const [id, rank] =
      places[static_cast<std::size_t>(below(draws, static_cast<int>(places.size())))];
  auto sliced = with_tensor(graph);
  for (Chunk const& chunk : graph.chunks) {
    if (!chunk.trainable) continue;
    auto ranges = slices(graph, chunk);
    if (chunk.id == id) {
      sliced.chunk = id;
      sliced.misplaced = shift_edge(ranges[rank], ranges[rank + 1], chunk.elements, draws);
    }
    add_norms(sliced, chunk, ranges);
  }
  return sliced;
}

}  // namespace spillway::test
