// column_sum: db = the sum of dy's rows: the gradient of a bias.
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/partitions.hpp"

namespace spillway {
namespace {

Label const label = "spillway::column_sum", label_total = "spillway::column_sum_total";

struct Extents {
  Partitions partitions;
  std::int64_t columns, row_stride;  // of dy
};

template <class T>
struct SumRows {
  T const* dy;
  float* partial;
  Extents extents;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t partition) const {
    auto* const sum = partial + partition * extents.columns;
    team.for_columns(extents.columns, [=](std::int64_t j) { sum[j] = 0; });
    auto row = extents.partitions.first(partition);
    auto const last = extents.partitions.last(partition);
    for (; row + kRowsAtOnce <= last; row += kRowsAtOnce) add_rows<kRowsAtOnce>(team, row, sum);
    for (; row < last; ++row) add_rows<1>(team, row, sum);
  }

 private:
  // Read side by side: a core follows several streams faster than one. Still added in order.
  static constexpr int kRowsAtOnce = 8;

  template <int rows>
  KOKKOS_FUNCTION void add_rows(RowTeam const& team, std::int64_t row, float* sum) const {
    auto const stride = extents.row_stride;
    auto const* const values = dy + row * stride;
    team.for_columns(extents.columns, [=](std::int64_t j) {
      float total = sum[j];
      for (int r = 0; r < rows; ++r) total += to_float(values[r * stride + j]);
      sum[j] = total;
    });
  }
};

template <class T, class G>
Launch bind_typed(Extents e) {
  return [e](Exec const& exec, void* const* p) {
    auto* const partial = static_cast<float*>(p[2]);
    for_each_row(exec, label, e.partitions.count,
                 SumRows<T>{static_cast<T const*>(p[0]), partial, e});
    for_each_range(
        exec, label_total, e.columns,
        AddRows<PartialRows, G>{
            {partial, e.columns}, static_cast<G*>(p[1]), e.partitions.count});
  };
}

template <class T, class G>
Launch serial_typed(Extents e) {
  return [e](Exec const&, void* const* p) {
    auto const* const dy = static_cast<T const*>(p[0]);
    auto* const db = static_cast<G*>(p[1]);
    for (std::int64_t j = 0; j < e.columns; ++j) {
      double sum = 0;
      for (std::int64_t row = 0; row < e.partitions.rows; ++row)
        sum += to_float(dy[row * e.row_stride + j]);
      db[j] = store<G>(static_cast<float>(sum));
    }
  };
}

Extents extents_of(Op const& op) {
  auto const& dy = op.inputs[0];
  return {Partitions::of(dy.shape[0]), dy.shape[1], dy.strides[0]};
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T, class G>(T, G) { return bind_typed<T, G>(extents_of(op)); },
                  dtype(context, op.inputs[0]), dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T, class G>(T, G) { return serial_typed<T, G>(extents_of(op)); },
                  dtype(context, op.inputs[0]), dtype(context, op.outputs[0]));
}

std::int64_t workspace(KernelContext const&, Op const& op) {
  auto const e = extents_of(op);
  return e.partitions.count * e.columns * size_bytes(DType::f32);
}

}  // namespace

Kernel kernel_column_sum() {
  return {bind, serial, workspace};
}

}  // namespace spillway
