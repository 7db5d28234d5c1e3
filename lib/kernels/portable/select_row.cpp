// The op `select_row` copies the row of x whose number `position` holds. The number is an input of
// the op, because each step of generating text may pick another row.
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::select_row";

struct Prepared {
  std::int64_t columns, row_stride;
};

template <class T>
struct SelectRow {
  Pointers<OpKind::select_row, T> o;
  std::int64_t row_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const {
    o.row[j] = o.x[*o.position * row_stride + j];
  }
};

struct SelectRowKernel {
  static constexpr auto kind = OpKind::select_row;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const& x = operands<kind>(op).x;
    return {x.shape[1], x.strides[0]};
  }
  static auto typed(auto const& o) { return std::tie(o.row); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::select_row, T> const& o,
                  Prepared const& prepared) {
    for_each_element(exec, label, prepared.columns, SelectRow<T>{o, prepared.row_stride});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::select_row, T> const& o, Prepared const& prepared) {
    SelectRow<T> const select{o, prepared.row_stride};
    for (std::int64_t j = 0; j < prepared.columns; ++j) select(j);
  }
};

}  // namespace

Kernel kernel_select_row() {
  return typed_kernel<SelectRowKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
