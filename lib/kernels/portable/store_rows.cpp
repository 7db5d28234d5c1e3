// The op `store_rows` computes cache[positions[m]] = x[m] and leaves the cache's other rows alone.
#include "base/check.hpp"
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
  Pointers<OpKind::store_rows, T> o;
  Extents e;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const* const in = o.x + row * e.row_stride;
    auto* const out = o.cache + o.positions[row] * e.columns;
    team.for_columns(e.columns, [=](std::int64_t j) { out[j] = in[j]; });
  }
};

struct StoreRowsKernel {
  static constexpr auto kind = OpKind::store_rows;

  static Extents prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    check(is_contiguous(o.cache) && o.cache.shape[1] == o.x.shape[1], name(op.kind),
          "its cache has other rows, or gaps");
    return {o.x.shape[0], o.x.shape[1], row_stride(o.x)};
  }
  static auto typed(auto const& o) { return std::tie(o.cache); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::store_rows, T> const& o, Extents const& e) {
    for_each_row(exec, label, e.rows, StoreRows<T>{o, e});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::store_rows, T> const& o, Extents const& e) {
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
