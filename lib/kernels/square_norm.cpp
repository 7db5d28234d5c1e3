// square_norm: the sum of squares of a chunk's gradient in fp64: per parameter, tiles of
// `kNormTile` elements, then all tiles in order. Gaps between parameters are not read.
#include "kernels/parameter_ranges.hpp"
#include "kernels/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway {
namespace {

Label const label = "spillway::square_norm", label_total = "spillway::square_norm_total";
using Ranges = std::vector<ParameterRange>;

template <class G>
struct Square {
  G const* values;

  KOKKOS_FUNCTION double operator()(std::int64_t i) const {
    double const g = to_float(values[i]);
    return g * g;
  }
};

KOKKOS_INLINE_FUNCTION std::int64_t tile_elements(std::int64_t count, std::int64_t tile) {
  auto const left = count - tile * kNormTile;
  return left < kNormTile ? left : kNormTile;
}

// Neighbouring tiles, read side by side: a core follows several streams faster than one.
constexpr std::int64_t kTilesAtOnce = kOnHost ? 4 : 1;

// The tiles of one parameter.
template <class G>
struct SquareTiles {
  G const* gradient;
  double* sums;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t item) const {
    auto const first = item * kTilesAtOnce, last = first + kTilesAtOnce;
    if constexpr (kOnHost) {
      if (last * kNormTile <= count) return sum_side_by_side(first);
    }
    for (auto tile = first; tile < last && tile * kNormTile < count; ++tile) {
      Square<G> const square{gradient + tile * kNormTile};
      double const sum = team.sum_columns<double>(tile_elements(count, tile), square);
      team.once([=, this] { sums[tile] = sum; });
    }
  }

 private:
  // As sum_in_lanes does it, tile by tile.
  void sum_side_by_side(std::int64_t first) const {
    double lane[kTilesAtOnce][kSumLanes] = {};
    auto const* const values = gradient + first * kNormTile;
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

struct AddTiles {
  double const* sums;
  double* norm;
  std::int64_t tiles;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    double total = 0;
    for (std::int64_t tile = 0; tile < tiles; ++tile) total += sums[tile];
    *norm = total;
  }
};

struct SquareNorm {
  static Ranges prepare(KernelContext const& context, Op const& op) {
    return parameter_ranges(context, op, attributes_of<UpdateRange>(op));
  }
  static auto typed(Op const& op) { return std::tie(op.inputs[0]); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    std::int64_t tiles = 0;
    for (auto const& range : prepare(context, op)) tiles += div_ceil(range.count, kNormTile);
    return tiles * size_bytes(DType::f64);
  }

  template <class G>
  static void run(Exec const& exec, void* const* p, Ranges const& ranges) {
    auto const* const gradient = static_cast<G const*>(p[0]);
    auto* const sums = static_cast<double*>(p[2]);
    std::int64_t tiles = 0;
    for (auto const& range : ranges) {
      auto const own = div_ceil(range.count, kNormTile);
      for_each_row(exec, label, div_ceil(own, kTilesAtOnce),
                   SquareTiles<G>{gradient + range.offset, sums + tiles, range.count});
      tiles += own;
    }
    for_each_item(exec, label_total, 1, AddTiles{sums, static_cast<double*>(p[1]), tiles});
  }

  template <class G>
  static void run_serially(void* const* p, Ranges const& ranges) {
    double total = 0;
    for (auto const& range : ranges)
      for (std::int64_t tile = 0; tile * kNormTile < range.count; ++tile) {
        Square<G> const square{static_cast<G const*>(p[0]) + range.offset + tile * kNormTile};
        total += sum_in_lanes<double>(tile_elements(range.count, tile), square);
      }
    *static_cast<double*>(p[1]) = total;
  }
};

}  // namespace

Kernel kernel_square_norm() {
  return typed_kernel<SquareNorm>();
}

}  // namespace spillway
