// select_row: the row of x whose number `position` holds; generation reads it late, so it is data.
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::select_row";

struct Extents {
  std::int64_t columns, row_stride;
};

template <class T>
struct SelectRow {
  T const* x;
  std::int32_t const* position;
  T* row;
  std::int64_t row_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t j) const { row[j] = x[*position * row_stride + j]; }
};

template <class T>
SelectRow<T> operands_of(void* const* p, std::int64_t row_stride) {
  return {static_cast<T const*>(p[0]), static_cast<std::int32_t const*>(p[1]),
          static_cast<T*>(p[2]), row_stride};
}

struct SelectRowKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    return {op.inputs[0].shape[1], op.inputs[0].strides[0]};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& extents) {
    for_each_element(exec, label, extents.columns, operands_of<T>(p, extents.row_stride));
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& extents) {
    auto const select = operands_of<T>(p, extents.row_stride);
    for (std::int64_t j = 0; j < extents.columns; ++j) select(j);
  }
};

}  // namespace

Kernel kernel_select_row() {
  return typed_kernel<SelectRowKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
