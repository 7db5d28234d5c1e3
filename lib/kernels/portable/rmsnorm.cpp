// rmsnorm: y = x rstd gamma, rstd = 1 / sqrt(mean(x^2) + eps) (Zhang and Sennrich,
// arXiv:1910.07467), of each group of as many columns as gamma has: a row, or each head of it.
#include <cmath>

#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::rmsnorm";

struct Extents {
  std::int64_t rows, groups, columns;  // groups of a row, columns of a group
  std::int64_t x_stride, y_stride;     // from row to row
  float eps;
};

template <class T>
struct RmsNorm {
  T const* x;
  T const* gamma;
  T* y;
  float* rstd;
  Extents e;

  KOKKOS_FUNCTION T const* in(std::int64_t i) const {
    return x + i / e.groups * e.x_stride + i % e.groups * e.columns;
  }
  KOKKOS_FUNCTION T* out(std::int64_t i) const {
    return y + i / e.groups * e.y_stride + i % e.groups * e.columns;
  }

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t i) const {
    auto const *const from = in(i), *const g = gamma;
    auto* const to = out(i);
    float const squares = team.sum_columns<float>(e.columns, [=](std::int64_t j) {
      float const value = to_float(from[j]);
      return value * value;
    });
    float const scale = 1.0f / std::sqrt(squares / static_cast<float>(e.columns) + e.eps);
    team.once([=, this] { rstd[i] = scale; });
    team.for_columns(e.columns, [=](std::int64_t j) {
      to[j] = store<T>(to_float(from[j]) * scale * to_float(g[j]));
    });
  }
};

template <class T>
RmsNorm<T> operands_of(void* const* p, Extents const& e) {
  return {static_cast<T const*>(p[0]), static_cast<T const*>(p[1]), static_cast<T*>(p[2]),
          static_cast<float*>(p[3]), e};
}

struct RmsNormKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    auto const &x = op.inputs[0], &gamma = op.inputs[1], &y = op.outputs[0];
    assert(is_contiguous(gamma) && is_contiguous(op.outputs[1]));
    auto const columns = gamma.shape[0];
    return {x.shape[0],    div_exact(x.shape[1], columns),
            columns,       row_stride(x),
            row_stride(y), static_cast<float>(attributes_of<NormAttributes>(op).eps)};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    for_each_row(exec, label, e.rows * e.groups, operands_of<T>(p, e));
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    auto const o = operands_of<T>(p, e);
    for (std::int64_t i = 0; i < e.rows * e.groups; ++i) {
      double squares = 0;
      for (std::int64_t j = 0; j < e.columns; ++j) squares += std::pow(to_float(o.in(i)[j]), 2);
      double const rstd = 1 / std::sqrt(squares / static_cast<double>(e.columns) + e.eps);
      o.rstd[i] = static_cast<float>(rstd);
      for (std::int64_t j = 0; j < e.columns; ++j)
        o.out(i)[j] =
            store<T>(static_cast<float>(to_float(o.in(i)[j]) * rstd * to_float(o.gamma[j])));
    }
  }
};

}  // namespace

Kernel kernel_rmsnorm() {
  return typed_kernel<RmsNormKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
