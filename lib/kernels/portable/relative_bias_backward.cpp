// The op `relative_bias_backward` computes dtable[b, h], the sum of ddistance_bias[h, e] over the
// elements e of bucket b, in the order of growing distance.
#include "kernels/formulas/relative_bias.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::relative_bias_backward";

struct Extents {
  RelativeBuckets buckets;
  std::int64_t rows, heads, queries, distances;  // `rows` counts those of the table
};

template <class G>
struct RelativeBiasBackward {
  Pointers<OpKind::relative_bias_backward, G> o;
  Extents e;

  // Computes one element of dtable. The distances of its bucket are found by bisection.
  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    auto const row = item / e.heads, head = item % e.heads;
    bool const ahead = row >= e.buckets.each;
    auto const bucket = ahead ? row - e.buckets.each : row;
    auto const* const query =
        o.ddistance_bias + head * e.distances + e.queries - 1;  // the element for distance 0
    auto const keys_ahead = e.distances - e.queries;
    auto const limit = ahead ? keys_ahead + 1 : e.queries;
    auto const past =
        bucket + 1 < e.buckets.each ? e.buckets.first_distance(bucket + 1, limit) : limit;
    float sum = 0;
    for (auto d = e.buckets.first_distance(bucket, limit); d < past; ++d)
      if (!ahead || d > 0) sum += query[ahead ? d : -d];
    if (!e.buckets.bidirectional && bucket == 0)
      for (std::int64_t d = 1; d <= keys_ahead; ++d) sum += query[d];
    o.dtable[item] = store<G>(sum);
  }
};

struct RelativeBiasBackwardKernel {
  static constexpr auto kind = OpKind::relative_bias_backward;

  static Extents prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const o = operands<kind>(op);
    auto const& table = o.dtable.shape;
    return {relative_buckets(op, table[0]), table[0], table[1],
            attributes_of<RelativeBiasAttributes>(op).queries, o.ddistance_bias.shape[1]};
  }
  static auto typed(auto const& o) { return std::tie(o.dtable); }

  template <class G>
  static void run(Exec const& exec, Pointers<OpKind::relative_bias_backward, G> const& o,
                  Extents const& e) {
    for_each_item(exec, label, e.rows * e.heads, RelativeBiasBackward<G>{o, e});
  }

  // The serial reference searches all distances for each element.
  template <class G>
  static void run_serially(Pointers<OpKind::relative_bias_backward, G> const& o, Extents const& e) {
    for (std::int64_t item = 0; item < e.rows * e.heads; ++item) {
      auto const* const dbias = o.ddistance_bias + item % e.heads * e.distances;
      double sum = 0;
      for (std::int64_t i = 0; i < e.distances; ++i)
        if (e.buckets.bucket(i - e.queries + 1) == item / e.heads) sum += dbias[i];
      o.dtable[item] = store<G>(static_cast<float>(sum));
    }
  }
};

}  // namespace

Kernel kernel_relative_bias_backward() {
  return typed_kernel<RelativeBiasBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
