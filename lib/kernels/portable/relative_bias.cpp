// relative_bias: distance_bias[h, e] = table[bucket of e - (queries - 1) rows ahead, h].
#include "kernels/formulas/relative_bias.hpp"

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
  T const* table;
  float* bias;
  Extents e;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const head = i / e.distances, element = i % e.distances;
    bias[i] = to_float(table[e.buckets.bucket(element - e.queries + 1) * e.heads + head]);
  }
};

struct RelativeBiasKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    auto const &table = op.inputs[0].shape, &bias = op.outputs[0].shape;
    assert(all_contiguous(op) && bias[0] == table[1]);
    return {relative_buckets(op, table[0]), table[1],
            attributes_of<RelativeBiasAttributes>(op).queries, bias[1]};
  }
  static auto typed(Op const& op) { return std::tie(op.inputs[0]); }

  template <class T>
  static RelativeBias<T> bound(void* const* p, Extents const& e) {
    return {static_cast<T const*>(p[0]), static_cast<float*>(p[1]), e};
  }
  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    for_each_item(exec, label, e.heads * e.distances, bound<T>(p, e));
  }
  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    for (std::int64_t i = 0; i < e.heads * e.distances; ++i) bound<T>(p, e)(i);
  }
};

}  // namespace

Kernel kernel_relative_bias() {
  return typed_kernel<RelativeBiasKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
