// The op `square_norm` sums the squares of a chunk's gradient in fp64, for each slice. The chunk is
// cut into tiles of `kNormTile` elements. An element's position in its tile decides which of
// `kSumLanes` sums it is added to; gaps between parameters are left out. A tile's position in its
// slice then decides to which of `kSumLanes` sums the tile is added. So the bits depend neither on
// where the op runs, nor on how many threads run it, nor on how many ranks hold the gradient.
#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

#include "graph/sharing.hpp"
#include "kernels/formulas/parameter_ranges.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::square_norm", label_slices = "spillway::square_norm_slices";

// Lists the ranges of the op's elements that belong to parameters, one for each parameter, in
// memory that the kernel can read.
struct ParameterRanges {
  std::int64_t elements, tiles, count;
  std::shared_ptr<ElementRange const> ranges;
  // Element t is the number of the first range that ends after the first element of tile t.
  std::shared_ptr<std::int32_t const> first_of_tile;
};

// Copies to memory that a Kokkos::View would give back in a way that ends the process if a device
// has failed. Here that memory is then left to the end of the process.
template <class Memory, class T>
std::shared_ptr<T const> copied(Label const& name, std::vector<T> const& from) {
  auto const bytes = std::max<std::size_t>(from.size(), 1) * sizeof(T);
  auto const give_back = [name, bytes](T* data) {
    try {
      Memory().deallocate(name.c_str(), data, bytes);
    } catch (std::exception const&) {
    }
  };
  std::shared_ptr<T> to(static_cast<T*>(Memory().allocate(name.c_str(), bytes)), give_back);
  Kokkos::deep_copy(Kokkos::View<T*, Memory>(to.get(), from.size()),
                    Kokkos::View<T const*, Kokkos::HostSpace>(from.data(), from.size()));
  return to;
}

template <class Memory>
ParameterRanges ranges_of(KernelContext const& context, Op const& op) {
  auto const elements = element_count(operands<OpKind::square_norm>(op).gradient.shape);
  std::vector<ElementRange> ranges;
  for (auto const& range : parameter_ranges(context, op, attributes_of<UpdateRange>(op)))
    ranges.push_back({range.offset, range.offset + range.count});
  std::vector<std::int32_t> first_of_tile;
  std::size_t next = 0;
  for (std::int64_t at = 0; at < elements; at += kNormTile) {
    while (next < ranges.size() && ranges[next].last <= at) ++next;
    first_of_tile.push_back(static_cast<std::int32_t>(next));
  }
  return {elements, std::ssize(first_of_tile), std::ssize(ranges),
          copied<Memory>("spillway::pieces", ranges),
          copied<Memory>("spillway::first_of_tile", first_of_tile)};
}

template <class G>
struct Square {
  G const* values;

  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const g = to_float(values[i]);
    return g * g;
  }
};

// operator()(i) returns the square of element i of a tile, or 0 for an element in a gap.
template <class G>
struct Tile {
  G const* gradient;
  ElementRange const* ranges;  // begins with the first range that ends after element `first`
  std::int64_t count;          // number of ranges
  std::int64_t first, elements;

  KOKKOS_FUNCTION bool is_whole() const {
    return count > 0 && ranges->first <= first && first + elements <= ranges->last;
  }
  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    auto const at = first + i;
    for (std::int64_t p = 0; p < count && ranges[p].first <= at; ++p)
      if (at < ranges[p].last) return Square<G>{gradient}(at);
    return 0;
  }
};

template <class G>
struct Tiles {
  G const* gradient;
  ElementRange const* ranges;
  std::int32_t const* first_of_tile;
  std::int64_t count, elements, tiles;

  Tiles(ParameterRanges const& of, G const* of_gradient)
      : gradient(of_gradient),
        ranges(of.ranges.get()),
        first_of_tile(of.first_of_tile.get()),
        count(of.count),
        elements(of.elements),
        tiles(of.tiles) {}

  KOKKOS_FUNCTION Tile<G> operator[](std::int64_t t) const {
    auto const first = t * kNormTile, skipped = std::int64_t{first_of_tile[t]};
    auto const left = elements - first;
    return {gradient, ranges + skipped, count - skipped, first,
            left < kNormTile ? left : kNormTile};
  }
};

// Several tiles are read side by side, because a core reads several streams faster than one.
constexpr std::int64_t kTilesAtOnce = kLikeDevice ? 1 : 4;

template <class G>
struct SquareTiles {
  Tiles<G> tiles;
  double* sums;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t unit) const {
    auto const first = unit * kTilesAtOnce, last = first + kTilesAtOnce;
    if constexpr (!kLikeDevice) {
      if (last <= tiles.tiles && are_of_one_parameter(first, last)) return sum_side_by_side(first);
    }
    for (auto t = first; t < last && t < tiles.tiles; ++t) {
      auto const tile = tiles[t];
      double const sum = tile.is_whole() ? team.sum_columns<double>(
                                               tile.elements, Square<G>{tile.gradient + tile.first})
                                         : team.sum_columns<double>(tile.elements, tile);
      team.once([=, this] { sums[t] = sum; });
    }
  }

 private:
  bool are_of_one_parameter(std::int64_t first, std::int64_t last) const {
    auto all = tiles[first];
    all.elements = (last - first) * kNormTile;
    return all.first + all.elements <= tiles.elements && all.is_whole();
  }

  // Sums kTilesAtOnce tiles, each of them in the order of sum_in_lanes.
  void sum_side_by_side(std::int64_t first) const {
    double lane[kTilesAtOnce][kSumLanes] = {};
    auto const* const values = tiles.gradient + first * kNormTile;
    for (std::int64_t j = 0; j < kNormTile; j += kSumLanes)
      for (std::int64_t tile = 0; tile < kTilesAtOnce; ++tile)
        add_squares(values + tile * kNormTile + j, lane[tile]);
    for (std::int64_t tile = 0; tile < kTilesAtOnce; ++tile)
      sums[first + tile] = sum_lanes(lane[tile]);
  }

  static void add_squares(G const* values, double* lane) {
    Square<G> const square{values};
#pragma omp simd
    for (int l = 0; l < kSumLanes; ++l) lane[l] += square(l);
  }
};

// Returns the sum of a tile's squares, with vector instructions if the tile has no gaps.
template <class G>
double sum_of(Tile<G> const& tile) {
  return tile.is_whole()
             ? sum_in_lanes<double>(tile.elements, Square<G>{tile.gradient + tile.first})
             : sum_in_lanes<double>(tile.elements, tile);
}

struct TileSums {
  double const* sums;

  KOKKOS_FUNCTION double operator()(std::int64_t tile) const { return sums[tile]; }
};

// Finds the tiles of the slices whose norms an op computes: of all slices of the gradient or, where
// the operand is what the rank that runs it keeps, of those in it. An op with one norm takes all
// elements as one slice.
struct Slices {
  std::int64_t elements, slice_elements;
  std::int64_t first, last;  // norms [first, last) are computed

  Slice tiles(std::int64_t number) const {
    auto const begin = std::min(elements, (number - first) * slice_elements);
    return {begin / kNormTile, div_ceil(std::min(slice_elements, elements - begin), kNormTile)};
  }
};

struct SumSlices {
  double const* sums;
  double* norms;
  std::int64_t first, count, number;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t) const {
    double const sum = team.sum_columns<double>(count, TileSums{sums + first});
    team.once([=, this] { norms[number] = sum; });
  }
};

struct SquareNorm {
  static constexpr auto kind = OpKind::square_norm;

  using Memory = Space::memory_space;
  struct Prepared {
    ParameterRanges ranges, host_ranges;
    Slices slices;
  };

  static Prepared prepare(KernelContext const& context, Op const& op) {
    return {ranges_of<Memory>(context, op), ranges_of<Kokkos::HostSpace>(context, op),
            slices(context, op)};
  }
  static Slices slices(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    auto const ranks = element_count(o.norms.shape), elements = element_count(o.gradient.shape);
    bool const of_slice = attributes_of<UpdateRange>(op).of_slice && ranks > 1;
    if (!of_slice) return {elements, gradient_slice_elements(elements, ranks), 0, ranks};
    auto const& chunk = context.chunks[static_cast<std::size_t>(op.chunk)];
    Sharing const sharing{ranks, chunk.sharers};
    auto const first = sharing.summed_number(context.rank) / sharing.copies() * sharing.copies();
    return {elements, gradient_slice_elements(chunk.elements, ranks), first,
            first + sharing.copies()};
  }
  static auto typed(auto const& o) { return std::tie(o.gradient); }
  // Even a gradient without elements gets scratch, because a launch that writes a norm expects
  // scratch.
  static std::int64_t workspace_bytes(KernelContext const&, Op const& op) {
    auto const tiles = div_ceil(element_count(operands<kind>(op).gradient.shape), kNormTile);
    return std::max<std::int64_t>(tiles, 1) * size_bytes(DType::f64);
  }

  template <class G>
  static void run(Exec const& exec, Pointers<OpKind::square_norm, G> const& o,
                  Prepared const& prepared) {
    auto* const sums = static_cast<double*>(o.workspace);
    Tiles<G> const tiles(prepared.ranges, o.gradient);
    for_each_row(exec, label, div_ceil(tiles.tiles, kTilesAtOnce), SquareTiles<G>{tiles, sums});
    for (auto n = prepared.slices.first; n < prepared.slices.last; ++n) {
      auto const of = prepared.slices.tiles(n);
      for_each_row(exec, label_slices, 1, SumSlices{sums, o.norms, of.first, of.count, n});
    }
  }

  template <class G>
  static void run_serially(Exec const& exec, Pointers<OpKind::square_norm, G> const& o,
                           Prepared const& prepared) {
    auto* const sums = static_cast<double*>(o.workspace);
    Tiles<G> const tiles(prepared.host_ranges, o.gradient);
    for_each_piece(exec, tiles.tiles, kPieceElements / kNormTile,
                   [&](std::int64_t first, std::int64_t last) {
                     for (auto t = first; t < last; ++t) sums[t] = sum_of(tiles[t]);
                   });
    for (auto n = prepared.slices.first; n < prepared.slices.last; ++n) {
      auto const of = prepared.slices.tiles(n);
      o.norms[n] = sum_in_lanes<double>(of.count, TileSums{sums + of.first});
    }
  }
};

}  // namespace

Kernel kernel_square_norm() {
  return typed_kernel<SquareNorm>();
}

}  // namespace spillway::SPILLWAY_SPACE
