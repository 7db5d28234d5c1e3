// relative_bias: distance_bias[h, e] = table[bucket of e - (queries - 1) rows ahead, h].
#include "kernels/relative_bias.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/launch.hpp"

namespace spillway {
namespace {

Label const label = "spillway::relative_bias";

template <class T>
struct RelativeBias {
  T const* table;
  float* bias;
  RelativeBuckets buckets;
  std::int64_t heads, queries, distances;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const head = i / distances, element = i % distances;
    bias[i] = to_float(table[buckets.bucket(element - queries + 1) * heads + head]);
  }
};

template <class T>
RelativeBias<T> bind_typed(Op const& op) {
  assert(all_contiguous(op));
  auto const &table = op.inputs[0], &bias = op.outputs[0];
  assert(bias.shape[0] == table.shape[1]);
  return {nullptr,
          nullptr,
          relative_buckets(op, table.shape[0]),
          table.shape[1],
          attributes_of<RelativeBiasAttributes>(op).queries,
          bias.shape[1]};
}

template <class T>
RelativeBias<T> with(RelativeBias<T> kernel, void* const* p) {
  kernel.table = static_cast<T const*>(p[0]);
  kernel.bias = static_cast<float*>(p[1]);
  return kernel;
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class T>(T) -> Launch {
        return [kernel = bind_typed<T>(op)](Exec const& exec, void* const* p) {
          for_each_item(exec, label, kernel.heads * kernel.distances, with(kernel, p));
        };
      },
      dtype(context, op.inputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch(
      [&]<class T>(T) -> Launch {
        return [kernel = bind_typed<T>(op)](Exec const&, void* const* p) {
          auto const bound = with(kernel, p);
          for (std::int64_t i = 0; i < bound.heads * bound.distances; ++i) bound(i);
        };
      },
      dtype(context, op.inputs[0]));
}

}  // namespace

RelativeBuckets relative_buckets(Op const& op, std::int64_t buckets) {
  auto const& a = attributes_of<RelativeBiasAttributes>(op);
  auto const each = a.bidirectional ? buckets / 2 : buckets;
  auto const exact = each / 2;
  if (exact < 1 || a.max_distance <= exact)
    throw Error(Status::bad_input,
                fmt::format("{}: {} buckets of distances up to {}: there must be two of each "
                            "direction, and distances beyond their first half",
                            op.name, buckets, a.max_distance));
  auto const ratio = static_cast<double>(a.max_distance) / static_cast<double>(exact);
  return {each, exact, static_cast<float>(std::log(ratio)), a.bidirectional};
}

Kernel kernel_relative_bias() {
  return {bind, serial};
}

}  // namespace spillway
