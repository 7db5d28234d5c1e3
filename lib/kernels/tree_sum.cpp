// tree_sum: this rank's slice of a gradient becomes the sum of all ranks' in rank order, in fp32,
// rounded once. The others' come as `parts` [ranks, n]; this rank's row of it is not read.
#include "graph/gradient_slice.hpp"
#include "kernels/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway {
namespace {

Label const label = "spillway::tree_sum";

// Every rank's slice, in rank order.
template <class G>
struct RankRows {
  G const* parts;
  G const* own;
  std::int64_t stride, rank;

  KOKKOS_FUNCTION G const* operator()(std::int64_t r) const {
    return r == rank ? own : parts + r * stride;
  }
};

struct TreeSum {
  std::int64_t ranks, rank, stride;
  Slice slice;

  template <class G>
  AddRows<RankRows<G>, G> add(void* const* p) const {
    auto* const own = static_cast<G*>(p[1]) + slice.first;
    return {{static_cast<G const*>(p[0]), own, stride, rank}, own, ranks};
  }
};

struct TreeSumKernel {
  static TreeSum prepare(KernelContext const& context, Op const& op) {
    auto const& parts = op.inputs[0].shape;
    auto const elements = element_count(op.outputs[0].shape);
    TreeSum const sum{parts[0], context.rank, parts[1],
                      gradient_slice(elements, context.rank, parts[0])};
    assert(all_contiguous(op) && sum.rank < sum.ranks && sum.slice.count <= sum.stride);
    return sum;
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class G>
  static void run(Exec const& exec, void* const* p, TreeSum const& sum) {
    for_each_range(exec, label, sum.slice.count, sum.add<G>(p));
  }

  template <class G>
  static void run_serially(void* const* p, TreeSum const& sum) {
    auto const add = sum.add<G>(p);
    for (std::int64_t i = 0; i < sum.slice.count; ++i) {
      float total = 0;
      for (std::int64_t r = 0; r < sum.ranks; ++r) total += to_float(add.rows(r)[i]);
      add.out[i] = store<G>(total);
    }
  }
};

}  // namespace

Kernel kernel_tree_sum() {
  return typed_kernel<TreeSumKernel>();
}

}  // namespace spillway
