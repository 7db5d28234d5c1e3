// tree_sum: this rank's slice of a gradient becomes the sum of all ranks' in rank order, in fp32,
// rounded once. The others' come as `parts` [ranks, n]; this rank's row of it is not read.
#include "graph/gradient_slice.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/rows.hpp"

namespace spillway {
namespace {

Label const label = "spillway::tree_sum";

template <class G>
class SumParts {
 public:
  // `stride`: of parts, from rank to rank; `own`: the slice.
  SumParts(std::int64_t ranks, std::int64_t rank, std::int64_t stride, G const* parts, G* own)
      : m_ranks(ranks), m_rank(rank), m_stride(stride), m_parts(parts), m_own(own) {}

  KOKKOS_FUNCTION void operator()(std::int64_t first, std::int64_t last) const {
    for (auto i = first; i < last; i += RowTeam::kBlock)
      sum_block(i, last - i < RowTeam::kBlock ? static_cast<int>(last - i) : RowTeam::kBlock);
  }

 private:
  KOKKOS_FUNCTION void sum_block(std::int64_t i, int width) const {
    float sum[RowTeam::kBlock] = {};
    for (std::int64_t r = 0; r < m_ranks; ++r) {
      auto const* const part = r == m_rank ? m_own + i : m_parts + r * m_stride + i;
#pragma omp simd
      for (int l = 0; l < width; ++l) sum[l] += to_float(part[l]);
    }
    for (int l = 0; l < width; ++l) m_own[i + l] = store<G>(sum[l]);
  }

  std::int64_t m_ranks, m_rank, m_stride;
  G const* m_parts;
  G* m_own;
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
  G const* parts(void* const* p) const { return static_cast<G const*>(p[0]); }
  G* own(void* const* p) const { return static_cast<G*>(p[1]) + slice.first; }
};

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class G>(G) -> Launch {
        return [sum = TreeSum<G>(context, op)](Exec const& exec, void* const* p) {
          for_each_range(exec, label, sum.slice.count,
                         SumParts<G>(sum.ranks, sum.rank, sum.stride, sum.parts(p), sum.own(p)));
        };
      },
      dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class G>(G) -> Launch {
        return [sum = TreeSum<G>(context, op)](Exec const&, void* const* p) {
          for (std::int64_t i = 0; i < sum.slice.count; ++i) {
            float total = 0;
            for (std::int64_t r = 0; r < sum.ranks; ++r)
              total += to_float(r == sum.rank ? sum.own(p)[i] : sum.parts(p)[r * sum.stride + i]);
            sum.own(p)[i] = store<G>(total);
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
