// store_rows: cache[positions[m]] = x[m]; other rows keep what earlier steps have stored.
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::store_rows";

struct Extents {
  std::int64_t rows, columns, row_stride;
};

template <class T>
struct StoreRows {
  T const* x;
  std::int32_t const* positions;
  T* cache;
  Extents e;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const* const in = x + row * e.row_stride;
    auto* const out = cache + positions[row] * e.columns;
    team.for_columns(e.columns, [=](std::int64_t j) { out[j] = in[j]; });
  }
};

template <class T>
StoreRows<T> operands_of(void* const* p, Extents const& e) {
  return {static_cast<T const*>(p[0]), static_cast<std::int32_t const*>(p[1]),
          static_cast<T*>(p[2]), e};
}

struct StoreRowsKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    auto const& x = op.inputs[0];
    assert(is_contiguous(op.outputs[0]) && op.outputs[0].shape[1] == x.shape[1]);
    return {x.shape[0], x.shape[1], row_stride(x)};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    for_each_row(exec, label, e.rows, operands_of<T>(p, e));
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    auto const o = operands_of<T>(p, e);
    for (std::int64_t m = 0; m < e.rows; ++m)
      for (std::int64_t j = 0; j < e.columns; ++j)
        o.cache[o.positions[m] * e.columns + j] = o.x[m * e.row_stride + j];
  }
};

}  // namespace

Kernel kernel_store_rows() {
  return typed_kernel<StoreRowsKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
