// The op `relative_bias_backward` computes dtable[b, h], the sum of ddistance_bias[h, e] over all e
// whose distance is in bucket b, in the order of growing distance.
#include "kernels/formulas/relative_bias.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::relative_bias_backward";

struct Prepared {
  RelativeBuckets buckets;
  std::int64_t rows, heads, queries, distances;  // `rows` is the number of rows of the table
};

template <class G>
struct RelativeBiasBackward {
  Pointers<OpKind::relative_bias_backward, G> o;
  Prepared p;

  // Computes one element of dtable. Bisection finds the distances that belong to its bucket.
  KOKKOS_FUNCTION void operator()(std::int64_t element) const {
    auto const row = element / p.heads, head = element % p.heads;
    bool const ahead = row >= p.buckets.per_direction;
    auto const bucket = ahead ? row - p.buckets.per_direction : row;
    auto const* const query =
        o.ddistance_bias + head * p.distances + p.queries - 1;  // the element for distance 0
    auto const keys_ahead = p.distances - p.queries;
    auto const limit = ahead ? keys_ahead + 1 : p.queries;
    auto const past =
        bucket + 1 < p.buckets.per_direction ? p.buckets.first_distance(bucket + 1, limit) : limit;
    float sum = 0;
    for (auto d = p.buckets.first_distance(bucket, limit); d < past; ++d)
      if (!ahead || d > 0) sum += query[ahead ? d : -d];
    if (!p.buckets.bidirectional && bucket == 0)
      for (std::int64_t d = 1; d <= keys_ahead; ++d) sum += query[d];
    o.dtable[element] = store<G>(sum);
  }
};

struct RelativeBiasBackwardKernel {
  static constexpr auto kind = OpKind::relative_bias_backward;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const o = operands<kind>(op);
    auto const& table = o.dtable.shape;
    return {relative_buckets(op, table[0]), table[0], table[1],
            attributes_of<RelativeBiasAttributes>(op).queries, o.ddistance_bias.shape[1]};
  }
  static auto typed(auto const& o) { return std::tie(o.dtable); }

  template <class G>
  static void run(Exec const& exec, Pointers<OpKind::relative_bias_backward, G> const& o,
                  Prepared const& p) {
    for_each_unit(exec, label, p.rows * p.heads, RelativeBiasBackward<G>{o, p});
  }

  // The serial reference searches all distances for each element of dtable.
  template <class G>
  static void run_serially(Pointers<OpKind::relative_bias_backward, G> const& o,
                           Prepared const& p) {
    for (std::int64_t element = 0; element < p.rows * p.heads; ++element) {
      auto const* const dbias = o.ddistance_bias + element % p.heads * p.distances;
      double sum = 0;
      for (std::int64_t i = 0; i < p.distances; ++i)
        if (p.buckets.bucket(i - p.queries + 1) == element / p.heads) sum += dbias[i];
      o.dtable[element] = store<G>(static_cast<float>(sum));
    }
  }
};

}  // namespace

Kernel kernel_relative_bias_backward() {
  return typed_kernel<RelativeBiasBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
