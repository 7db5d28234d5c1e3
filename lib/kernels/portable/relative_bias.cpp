// The op `relative_bias` computes distance_bias[h, e] = table[b, h] for each head h, where b is the
// bucket of a key e - (queries - 1) rows ahead of the query.
#include "kernels/formulas/relative_bias.hpp"

#include "base/check.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::relative_bias";

struct Prepared {
  RelativeBuckets buckets;
  std::int64_t heads, queries, distances;
};

template <class T>
struct RelativeBias {
  Pointers<OpKind::relative_bias, T> o;
  Prepared p;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const head = i / p.distances, element = i % p.distances;
    auto const row = p.buckets.bucket(element - p.queries + 1);
    o.distance_bias[i] = to_float(o.table[row * p.heads + head]);
  }
};

struct RelativeBiasKernel {
  static constexpr auto kind = OpKind::relative_bias;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    auto const &table = o.table.shape, &bias = o.distance_bias.shape;
    require_contiguous(op);
    check(bias[0] == table[1], name(op.kind), "its table has another number of heads");
    return {relative_buckets(op, table[0]), table[1],
            attributes_of<RelativeBiasAttributes>(op).queries, bias[1]};
  }
  static auto typed(auto const& o) { return std::tie(o.table); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::relative_bias, T> const& o,
                  Prepared const& p) {
    for_each_unit(exec, label, p.heads * p.distances, RelativeBias<T>{o, p});
  }
  template <class T>
  static void run_serially(Pointers<OpKind::relative_bias, T> const& o, Prepared const& p) {
    for (std::int64_t i = 0; i < p.heads * p.distances; ++i) RelativeBias<T>{o, p}(i);
  }
};

}  // namespace

Kernel kernel_relative_bias() {
  return typed_kernel<RelativeBiasKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
