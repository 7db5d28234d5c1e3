// tree_sum: the sum of all ranks' parts [ranks, n] in rank order, in fp32, rounded once.
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/partitions.hpp"

namespace spillway {
namespace {

Label const label = "spillway::tree_sum";

struct Extents {
  std::int64_t ranks, n;
};

template <class G>
Launch bind_typed(Extents extents) {
  return [extents](Exec const& exec, void* const* p) {
    SumPartitions<G, G> const sum{static_cast<G const*>(p[0]), static_cast<G*>(p[1]), extents.ranks,
                                  extents.n};
    for_each_range(exec, label, extents.n, sum);
  };
}

template <class G>
Launch serial_typed(Extents extents) {
  return [extents](Exec const&, void* const* p) {
    auto const* const parts = static_cast<G const*>(p[0]);
    auto* const sum = static_cast<G*>(p[1]);
    for (std::int64_t i = 0; i < extents.n; ++i) {
      float total = 0;
      for (std::int64_t rank = 0; rank < extents.ranks; ++rank)
        total += to_float(parts[rank * extents.n + i]);
      sum[i] = store<G>(total);
    }
  };
}

Extents extents_of(Op const& op) {
  assert(all_contiguous(op));
  auto const n = element_count(op.outputs[0].shape);
  return {div_exact(element_count(op.inputs[0].shape), n), n};
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch([&]<class G>(G) { return bind_typed<G>(extents_of(op)); },
                  dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch([&]<class G>(G) { return serial_typed<G>(extents_of(op)); },
                  dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_tree_sum() {
  return {bind, serial};
}

}  // namespace spillway
