// The op `tree_sum` replaces this rank's slice of a gradient by the sum of all ranks' values or, if
// its output is no input, too, writes that sum to an output that is the slice alone. The values
// are added in fp32 and rounded once. The order is a binary tree over rank numbers, in which 2^k
// neighbouring ranks are a subtree that a machine of several ranks may sum first. The other ranks'
// values come as `parts` [ranks, n], whose own row is read only if the output is the slice alone.
#include <bit>

#include "base/check.hpp"
#include "graph/sharing.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/portable/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::tree_sum";

// The call operator returns where rank r's values of the slice begin.
template <class G>
struct RankRows {
  G const* parts;
  G const* own;
  std::int64_t stride, rank;

  KOKKOS_FUNCTION G const* operator()(std::int64_t r) const {
    return r == rank ? own : parts + r * stride;
  }
};

// Launched by for_each_range over elements, a SumTree sets out[j] to the tree's sum of rows(r)[j]
// over all ranks r. `partial` keeps the sums of subtrees by height, as a binary counter keeps its
// digits.
template <class Rows, class G>
struct SumTree {
  Rows rows;
  G* out;
  std::int64_t ranks;

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    for (auto j = first; j < last; j += RowTeam::kBlock)
      sum_block(j, last - j < RowTeam::kBlock ? static_cast<int>(last - j) : RowTeam::kBlock);
  }

 private:
  static constexpr int kHeights = 24;  // enough for 16 million ranks

  KOKKOS_FUNCTION void sum_block(std::int64_t j, int width) const {
    float partial[kHeights][RowTeam::kBlock], sum[RowTeam::kBlock];
    for (std::int64_t r = 0; r < ranks; ++r) {
      auto const* const row = rows(r) + j;
#pragma omp simd
      for (int l = 0; l < width; ++l) sum[l] = to_float(row[l]);
      int height = 0;
      for (; (r >> height) % 2 == 1; ++height) add(partial[height], sum, width);
#pragma omp simd
      for (int l = 0; l < width; ++l) partial[height][l] = sum[l];
    }
    join(partial, sum, width);
    for (int l = 0; l < width; ++l) out[j + l] = store<G>(sum[l]);
  }

  // Adds the subtrees that are left, one for each 1 bit of `ranks`, beginning with the lowest bit.
  KOKKOS_FUNCTION void join(float (*partial)[RowTeam::kBlock], float* sum, int width) const {
    int height = 0;
    while ((ranks >> height) % 2 == 0) ++height;
    for (int l = 0; l < width; ++l) sum[l] = partial[height][l];
    for (++height; ranks >> height != 0; ++height) {
      if ((ranks >> height) % 2 == 1) add(partial[height], sum, width);
    }
  }

  KOKKOS_FUNCTION static void add(float const* earlier, float* sum, int width) {
#pragma omp simd
    for (int l = 0; l < width; ++l) sum[l] = earlier[l] + sum[l];
  }
};

struct TreeSum {
  std::int64_t ranks, rank, stride;
  Slice slice;    // where the sum lies in the operand
  bool in_place;  // whether the operand is a gradient that has the rank's own values

  template <class G>
  SumTree<RankRows<G>, G> over(Pointers<OpKind::tree_sum, G> const& o) const {
    G* const sums = o.gradient + slice.first;
    G const* const own = in_place ? sums : o.parts + rank * stride;
    return {{o.parts, own, stride, rank}, sums, ranks};
  }
};

// Returns the sum of element i over ranks [first, last). The left subtree has the largest power of
// 2 of ranks that is less than their number.
template <class Rows>
float sum_of_ranks(Rows const& rows, std::int64_t i, std::int64_t first, std::int64_t last) {
  auto const count = static_cast<std::uint64_t>(last - first);
  if (count == 1) return to_float(rows(first)[i]);
  auto const middle = first + static_cast<std::int64_t>(std::bit_floor(count - 1));
  return sum_of_ranks(rows, i, first, middle) + sum_of_ranks(rows, i, middle, last);
}

struct TreeSumKernel {
  static constexpr auto kind = OpKind::tree_sum;

  static TreeSum prepare(KernelContext const& context, Op const& op) {
    auto const& parts = operands<kind>(op).parts.shape;
    bool const in_place = is_in_place(op, 0);
    TreeSum const sum{parts[0], context.rank, parts[1], summed(context, op, in_place), in_place};
    require_contiguous(op);
    check(sum.rank < sum.ranks && sum.slice.count <= sum.stride, name(op.kind),
          "it has no part for every rank");
    return sum;
  }
  static Slice summed(KernelContext const& context, Op const& op, bool in_place) {
    auto const ranks = operands<kind>(op).parts.shape[0];
    auto const elements = element_count(operands<kind>(op).gradient.shape);
    if (in_place) return gradient_slice(elements, context.rank, ranks);
    auto const& chunk = context.chunks[static_cast<std::size_t>(op.chunk)];
    return Sharing{ranks, chunk.sharers}.summed_of_kept(chunk.elements, context.rank);
  }
  static auto typed(auto const& o) { return std::tie(o.gradient); }

  template <class G>
  static void run(Exec const& exec, Pointers<OpKind::tree_sum, G> const& o, TreeSum const& sum) {
    for_each_range(exec, label, sum.slice.count, sum.over(o));
  }

  template <class G>
  static void run_serially(Exec const& exec, Pointers<OpKind::tree_sum, G> const& o,
                           TreeSum const& sum) {
    auto const add = sum.over(o);
    for_each_piece(exec, sum.slice.count, kPieceElements,
                   [&](std::int64_t first, std::int64_t last) {
                     for (auto i = first; i < last; ++i)
                       add.out[i] = store<G>(sum_of_ranks(add.rows, i, 0, sum.ranks));
                   });
  }
};

}  // namespace

Kernel kernel_tree_sum() {
  return typed_kernel<TreeSumKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
