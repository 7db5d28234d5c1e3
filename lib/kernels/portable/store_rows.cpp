// The op `store_rows` computes cache[positions[m]] = x[m] and leaves the cache's other rows alone.
#include "base/check.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::store_rows";

struct Prepared {
  std::int64_t rows, columns, row_stride;
};

template <class T>
struct StoreRows {
  Pointers<OpKind::store_rows, T> o;
  Prepared p;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const* const in = o.x + row * p.row_stride;
    auto* const out = o.cache + o.positions[row] * p.columns;
    team.for_columns(p.columns, [=](std::int64_t j) { out[j] = in[j]; });
  }
};

struct StoreRowsKernel {
  static constexpr auto kind = OpKind::store_rows;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    check(is_contiguous(o.cache) && o.cache.shape[1] == o.x.shape[1], name(op.kind),
          "its cache has other rows, or gaps");
    return {o.x.shape[0], o.x.shape[1], row_stride(o.x)};
  }
  static auto typed(auto const& o) { return std::tie(o.cache); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::store_rows, T> const& o, Prepared const& p) {
    for_each_row(exec, label, p.rows, StoreRows<T>{o, p});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::store_rows, T> const& o, Prepared const& p) {
    for (std::int64_t m = 0; m < p.rows; ++m)
      for (std::int64_t j = 0; j < p.columns; ++j)
        o.cache[o.positions[m] * p.columns + j] = o.x[m * p.row_stride + j];
  }
};

}  // namespace

Kernel kernel_store_rows() {
  return typed_kernel<StoreRowsKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
