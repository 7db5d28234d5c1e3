// The op `column_sum` computes db, the sum of dy's rows, which is the gradient of a bias.
#include "kernels/portable/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::column_sum", label_total = "spillway::column_sum_total";

struct Prepared {
  Partitions partitions;
  std::int64_t columns, row_stride;  // columns of dy, and elements from one row of dy to the next
};

template <class T>
struct SumRows {
  T const* dy;
  float* partial;
  Prepared prepared;

  // Sums a partition on a host.
  void operator()(RowTeam const& team, std::int64_t partition) const {
    auto* const sum = partial + partition * prepared.columns;
    team.for_columns(prepared.columns, [=](std::int64_t j) { sum[j] = 0; });
    auto row = prepared.partitions.first(partition);
    auto const last = prepared.partitions.last(partition);
    for (; row + kRowsAtOnce <= last; row += kRowsAtOnce) add_rows<kRowsAtOnce>(team, row, sum);
    for (; row < last; ++row) add_rows<1>(team, row, sum);
  }

  // Sums one column of a partition on a device.
  KOKKOS_FUNCTION void sum_column(std::int64_t partition, std::int64_t j) const {
    float sum = 0;
    read_ahead<16>(
        prepared.partitions.first(partition), prepared.partitions.last(partition), 1,
        [=, this](std::int64_t row) { return dy[row * prepared.row_stride + j]; },
        [&](T value) { sum += to_float(value); });
    partial[partition * prepared.columns + j] = sum;
  }

 private:
  // This many rows are read side by side, because a core reads several streams faster than one. The
  // rows are still added in ascending order.
  static constexpr int kRowsAtOnce = 8;

  template <int rows>
  void add_rows(RowTeam const& team, std::int64_t row, float* sum) const {
    auto const stride = prepared.row_stride;
    auto const* const values = dy + row * stride;
    team.for_columns(prepared.columns, [=](std::int64_t j) {
      float total = sum[j];
      for (int r = 0; r < rows; ++r) total += to_float(values[r * stride + j]);
      sum[j] = total;
    });
  }
};

struct ColumnSum {
  static constexpr auto kind = OpKind::column_sum;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const& dy = operands<kind>(op).dy;
    return {Partitions::of(dy.shape[0]), dy.shape[1], dy.strides[0]};
  }
  static auto typed(auto const& o) { return std::tie(o.dy, o.db); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const p = prepare(context, op);
    return p.partitions.count * p.columns * size_bytes(DType::f32);
  }

  template <class T, class G>
  static void run(Exec const& exec, Pointers<OpKind::column_sum, T, G> const& o,
                  Prepared const& p) {
    auto* const partial = static_cast<float*>(o.workspace);
    SumRows<T> const sum{o.dy, partial, p};
    if constexpr (kLikeDevice) {
      for_each_sum(exec, label, p.partitions.count, p.columns, sum);
    } else {
      for_each_row(exec, label, p.partitions.count, sum);
    }
    for_each_range(exec, label_total, p.columns,
                   AddRows<PartialRows, G>{{partial, p.columns}, o.db, p.partitions.count});
  }

  template <class T, class G>
  static void run_serially(Pointers<OpKind::column_sum, T, G> const& o, Prepared const& p) {
    for (std::int64_t j = 0; j < p.columns; ++j) {
      double sum = 0;
      for (std::int64_t row = 0; row < p.partitions.rows; ++row)
        sum += to_float(o.dy[row * p.row_stride + j]);
      o.db[j] = store<G>(static_cast<float>(sum));
    }
  }
};

}  // namespace

Kernel kernel_column_sum() {
  return typed_kernel<ColumnSum>();
}

}  // namespace spillway::SPILLWAY_SPACE
