// The op `rmsnorm_backward` computes, with h = x rstd and d = dy gamma, for each row, or each head
// of a row if gamma is as short as a head, with C columns:
//   dx = rstd (d - h sum(d h)/C) [+ addend],   dgamma = sum of dy h over rows and heads.
#include <cmath>

#include "base/check.hpp"
#include "kernels/portable/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::rmsnorm_backward";
Label const label_sums = "spillway::rmsnorm_backward_sums";
Label const label_gamma = "spillway::rmsnorm_backward_gamma";

struct Prepared {
  Partitions partitions;        // how all rows, or all heads of all rows, are divided
  std::int64_t heads, columns;  // heads per row (or 1), columns per head (or row)
  // Strides are in elements, from row to row.
  std::int64_t dy_stride, x_stride, addend_stride, dx_stride;

  KOKKOS_FUNCTION std::int64_t at(std::int64_t head, std::int64_t stride) const {
    return head / heads * stride + head % heads * columns;
  }
};

template <class T, class G>
using OpPointers = Pointers<OpKind::rmsnorm_backward, T, G>;

// Computes dx. On a host a unit of work is a partition, and what its rows (or heads) contribute to
// dgamma is summed on the way. On a device it is a row (or head), and SumGamma has computed the
// sums.
template <class T, class G, bool Addend>
struct RmsNormBackward {
  OpPointers<T, G> o;
  float* partial;  // [partitions][columns]: sums for dgamma
  Prepared p;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t unit) const {
    if constexpr (kLikeDevice) {
      differentiate_head(team, unit, nullptr);
    } else {
      auto* const dgamma = partial + unit * p.columns;
      team.for_columns(p.columns, [=](std::int64_t j) { dgamma[j] = 0; });
      for (auto i = p.partitions.first(unit); i < p.partitions.last(unit); ++i)
        differentiate_head(team, i, dgamma);
    }
  }

 private:
  KOKKOS_FUNCTION void differentiate_head(RowTeam const& team, std::int64_t i,
                                          float* dgamma) const {
    auto const *const dy = o.dy + p.at(i, p.dy_stride), *const x = o.x + p.at(i, p.x_stride);
    auto const* const gamma = o.gamma;
    auto const* const addend = Addend ? o.addend + p.at(i, p.addend_stride) : nullptr;
    auto* const dx = o.dx + p.at(i, p.dx_stride);
    float const rstd = o.rstd[i];
    auto const h = [=](std::int64_t j) { return to_float(x[j]) * rstd; };
    auto const d = [=](std::int64_t j) { return to_float(dy[j]) * to_float(gamma[j]); };
    float const dh =
        team.sum_columns<float>(p.columns, [=](std::int64_t j) { return d(j) * h(j); });
    float const dh_mean = dh / static_cast<float>(p.columns);

    team.for_columns(p.columns, [=](std::int64_t j) {
      float const normal = h(j);
      if constexpr (!kLikeDevice) dgamma[j] = std::fma(to_float(dy[j]), normal, dgamma[j]);
      float const slope = rstd * std::fma(-normal, dh_mean, d(j));
      if constexpr (Addend) {
        dx[j] = store<T>(slope + to_float(addend[j]));
      } else {
        dx[j] = store<T>(slope);
      }
    });
  }
};

// Sums, on a device, what the rows (or heads) of a partition contribute to one column of dgamma.
template <class T, class G>
struct SumGamma {
  OpPointers<T, G> o;
  float* partial;
  Prepared p;

  KOKKOS_FUNCTION void sum_column(std::int64_t partition, std::int64_t j) const {
    float dgamma = 0;
    read_ahead<8>(
        p.partitions.first(partition), p.partitions.last(partition), 1,
        [=, this](std::int64_t i) { return term(i, j); },
        [&](Term const& of) {
          dgamma = std::fma(to_float(of.dy), to_float(of.x) * of.rstd, dgamma);
        });
    partial[partition * p.columns + j] = dgamma;
  }

 private:
  struct Term {
    T dy, x;
    float rstd;
  };

  KOKKOS_FUNCTION Term term(std::int64_t i, std::int64_t j) const {
    return {o.dy[p.at(i, p.dy_stride) + j], o.x[p.at(i, p.x_stride) + j], o.rstd[i]};
  }
};

// The serial reference computes in fp64, dx row by row (or head by head) and then dgamma column by
// column.
template <class T, class G>
void differentiate(OpPointers<T, G> const& o, Prepared const& p) {
  auto const dy = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(to_float(o.dy[p.at(i, p.dy_stride) + j]));
  };
  auto const h = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(to_float(o.x[p.at(i, p.x_stride) + j])) * o.rstd[i];
  };
  for (std::int64_t i = 0; i < p.partitions.rows; ++i) {
    auto const d = [&](std::int64_t j) { return dy(i, j) * to_float(o.gamma[j]); };
    double dh_sum = 0;
    for (std::int64_t j = 0; j < p.columns; ++j) dh_sum += d(j) * h(i, j);
    for (std::int64_t j = 0; j < p.columns; ++j) {
      double const dx = o.rstd[i] * (d(j) - h(i, j) * dh_sum / static_cast<double>(p.columns));
      double const addend = o.addend ? to_float(o.addend[p.at(i, p.addend_stride) + j]) : 0;
      o.dx[p.at(i, p.dx_stride) + j] = store<T>(static_cast<float>(dx + addend));
    }
  }
  for (std::int64_t j = 0; j < p.columns; ++j) {
    double dgamma = 0;
    for (std::int64_t i = 0; i < p.partitions.rows; ++i) dgamma += dy(i, j) * h(i, j);
    o.dgamma[j] = store<G>(static_cast<float>(dgamma));
  }
}

struct RmsNormBackwardKernel {
  static constexpr auto kind = OpKind::rmsnorm_backward;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    for (auto const* const view : {&o.gamma, &o.rstd, &o.dgamma})
      check(is_contiguous(*view), name(op.kind), kHasGaps);
    auto const heads = div_exact(o.x.shape[1], o.gamma.shape[0]);
    return {Partitions::of(o.x.shape[0] * heads),
            heads,
            o.gamma.shape[0],
            row_stride(o.dy),
            row_stride(o.x),
            row_stride(o.addend),
            row_stride(o.dx)};
  }
  static auto typed(auto const& o) { return std::tie(o.dx, o.dgamma); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const p = prepare(context, op);
    return p.partitions.count * p.columns * size_bytes(DType::f32);
  }

  template <class T, class G>
  static void run(Exec const& exec, OpPointers<T, G> const& o, Prepared const& p) {
    auto* const partial = static_cast<float*>(o.workspace);
    if constexpr (kLikeDevice)
      for_each_sum(exec, label_sums, p.partitions.count, p.columns, SumGamma<T, G>{o, partial, p});
    auto const units = kLikeDevice ? p.partitions.rows : p.partitions.count;
    if (o.addend) {
      for_each_row(exec, label, units, RmsNormBackward<T, G, true>{o, partial, p});
    } else {
      for_each_row(exec, label, units, RmsNormBackward<T, G, false>{o, partial, p});
    }
    for_each_range(exec, label_gamma, p.columns,
                   AddRows<PartialRows, G>{{partial, p.columns}, o.dgamma, p.partitions.count});
  }

  template <class T, class G>
  static void run_serially(OpPointers<T, G> const& o, Prepared const& p) {
    differentiate(o, p);
  }
};

}  // namespace

Kernel kernel_rmsnorm_backward() {
  return typed_kernel<RmsNormBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
