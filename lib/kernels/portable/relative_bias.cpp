// The op `relative_bias` computes distance_bias[h, e] = table[b, h], where b is the bucket of a key
// e - (queries - 1) rows ahead of the query.
#include "kernels/formulas/relative_bias.hpp"

#include "base/check.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::relative_bias";

struct Extents {
  RelativeBuckets buckets;
  std::int64_t heads, queries, distances;
};

template <class T>
struct RelativeBias {
  Pointers<OpKind::relative_bias, T> o;
  Extents e;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const head = i / e.distances, element = i % e.distances;
    auto const row = e.buckets.bucket(element - e.queries + 1);
    o.distance_bias[i] = to_float(o.table[row * e.heads + head]);
  }
};

struct RelativeBiasKernel {
  static constexpr auto kind = OpKind::relative_bias;

  static Extents prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    auto const &table = o.table.shape, &bias = o.distance_bias.shape;
    require_contiguous(op);
    check(bias[0] == table[1], name(op.kind), "its table has another number of heads");
    return {relative_buckets(op, table[0]), table[1],
            attributes_of<RelativeBiasAttributes>(op).queries, bias[1]};
  }
  static auto typed(auto const& o) { return std::tie(o.table); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::relative_bias, T> const& o, Extents const& e) {
    for_each_item(exec, label, e.heads * e.distances, RelativeBias<T>{o, e});
  }
  template <class T>
  static void run_serially(Pointers<OpKind::relative_bias, T> const& o, Extents const& e) {
    for (std::int64_t i = 0; i < e.heads * e.distances; ++i) RelativeBias<T>{o, e}(i);
  }
};

}  // namespace

Kernel kernel_relative_bias() {
  return typed_kernel<RelativeBiasKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
