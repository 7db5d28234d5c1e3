// The op `rmsnorm` computes y = x rstd gamma with rstd = 1 / sqrt(mean(x^2) + eps) (Zhang and
// Sennrich, arXiv:1910.07467), for each row or, if gamma is as short as a head, for each head of a
// row.
#include <cmath>

#include "base/check.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::rmsnorm";

struct Prepared {
  std::int64_t rows, heads, columns;  // rows, heads per row (or 1), columns per head (or row)
  std::int64_t x_stride, y_stride;    // in elements, from row to row
  float eps;
};

template <class T>
struct RmsNorm {
  Pointers<OpKind::rmsnorm, T> o;
  Prepared p;

  KOKKOS_FUNCTION T const* in(std::int64_t i) const {
    return o.x + i / p.heads * p.x_stride + i % p.heads * p.columns;
  }
  KOKKOS_FUNCTION T* out(std::int64_t i) const {
    return o.y + i / p.heads * p.y_stride + i % p.heads * p.columns;
  }

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t i) const {
    auto const *const from = in(i), *const g = o.gamma;
    auto* const to = out(i);
    float const squares = team.sum_columns<float>(p.columns, [=](std::int64_t j) {
      float const value = to_float(from[j]);
      return value * value;
    });
    float const scale = 1.0f / std::sqrt(squares / static_cast<float>(p.columns) + p.eps);
    team.once([=, this] { o.rstd[i] = scale; });
    team.for_columns(p.columns, [=](std::int64_t j) {
      to[j] = store<T>(to_float(from[j]) * scale * to_float(g[j]));
    });
  }
};

struct RmsNormKernel {
  static constexpr auto kind = OpKind::rmsnorm;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const o = operands<kind>(op);
    check(is_contiguous(o.gamma) && is_contiguous(o.rstd), name(op.kind), kHasGaps);
    auto const columns = o.gamma.shape[0];
    return {o.x.shape[0],    div_exact(o.x.shape[1], columns),
            columns,         row_stride(o.x),
            row_stride(o.y), static_cast<float>(attributes_of<NormAttributes>(op).eps)};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::rmsnorm, T> const& o, Prepared const& p) {
    for_each_row(exec, label, p.rows * p.heads, RmsNorm<T>{o, p});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::rmsnorm, T> const& o, Prepared const& p) {
    RmsNorm<T> const norm{o, p};
    for (std::int64_t i = 0; i < p.rows * p.heads; ++i) {
      double squares = 0;
      for (std::int64_t j = 0; j < p.columns; ++j) squares += std::pow(to_float(norm.in(i)[j]), 2);
      double const rstd = 1 / std::sqrt(squares / static_cast<double>(p.columns) + p.eps);
      o.rstd[i] = static_cast<float>(rstd);
      for (std::int64_t j = 0; j < p.columns; ++j)
        norm.out(i)[j] =
            store<T>(static_cast<float>(to_float(norm.in(i)[j]) * rstd * to_float(o.gamma[j])));
    }
  }
};

}  // namespace

Kernel kernel_rmsnorm() {
  return typed_kernel<RmsNormKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
