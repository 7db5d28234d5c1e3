// tree_sum: this rank's slice of a gradient becomes the sum of all ranks' in rank order, in fp32,
// rounded once. The others' come as `parts` [ranks, n]; this rank's row of it is not read.
#include "graph/gradient_slice.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/partitions.hpp"

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

template <class G>
struct TreeSum {
  std::int64_t ranks, rank, stride;
  Slice slice;

  TreeSum(KernelContext const& context, Op const& op)
      : ranks(op.inputs[0].shape[0]),
        rank(context.rank),
        stride(op.inputs[0].shape[1]),
        slice(gradient_slice(element_count(op.outputs[0].shape), rank, ranks)) {
    assert(all_contiguous(op) && rank < ranks && slice.count <= stride);
  }
  AddRows<RankRows<G>, G> add(void* const* p) const {
    auto* const own = static_cast<G*>(p[1]) + slice.first;
    return {{static_cast<G const*>(p[0]), own, stride, rank}, own, ranks};
  }
};

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class G>(G) -> Launch {
        return [sum = TreeSum<G>(context, op)](Exec const& exec, void* const* p) {
          for_each_range(exec, label, sum.slice.count, sum.add(p));
        };
      },
      dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class G>(G) -> Launch {
        return [sum = TreeSum<G>(context, op)](Exec const&, void* const* p) {
          auto const add = sum.add(p);
          for (std::int64_t i = 0; i < sum.slice.count; ++i) {
            float total = 0;
            for (std::int64_t r = 0; r < sum.ranks; ++r) total += to_float(add.rows(r)[i]);
            add.out[i] = store<G>(total);
          }
        };
      },
      dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_tree_sum() {
  return {bind, serial};
}

}  // namespace spillway
