// layernorm: y = (x - mean) rstd gamma + beta per row (Ba, Kiros and Hinton, arXiv:1607.06450),
// with the mean taken first and the variance around it: no cancellation.
#include <cmath>

#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::layernorm";

struct Extents {
  std::int64_t rows, columns;
  float eps;
};

template <class T>
struct LayerNorm {
  T const* x;
  T const* gamma;
  T const* beta;  // null: none
  T* y;
  float* mean;
  float* rstd;
  Extents extents;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const columns = extents.columns;
    auto const* const in = x + row * columns;
    float const n = static_cast<float>(columns);
    float const center =
        team.sum_columns<float>(columns, [=](std::int64_t j) { return to_float(in[j]); }) / n;
    float const variance = team.sum_columns<float>(columns, [=](std::int64_t j) {
      float const d = to_float(in[j]) - center;
      return d * d;
    }) / n;
    float const scale = 1.0f / std::sqrt(variance + extents.eps);
    team.once([=, this] {
      mean[row] = center;
      rstd[row] = scale;
    });
    normalize(team, row, center, scale);
  }

 private:
  KOKKOS_FUNCTION void normalize(RowTeam const& team, std::int64_t row, float center,
                                 float scale) const {
    auto const* const in = x + row * extents.columns;
    auto* const out = y + row * extents.columns;
    auto const *const g = gamma, *const b = beta;
    if (b) {
      team.for_columns(extents.columns, [=](std::int64_t j) {
        out[j] =
            store<T>(std::fma((to_float(in[j]) - center) * scale, to_float(g[j]), to_float(b[j])));
      });
    } else {
      team.for_columns(extents.columns, [=](std::int64_t j) {
        out[j] = store<T>((to_float(in[j]) - center) * scale * to_float(g[j]));
      });
    }
  }
};

template <class T>
LayerNorm<T> operands_of(void* const* p, Extents extents) {
  return {static_cast<T const*>(p[0]),
          static_cast<T const*>(p[1]),
          static_cast<T const*>(p[2]),
          static_cast<T*>(p[3]),
          static_cast<float*>(p[4]),
          static_cast<float*>(p[5]),
          extents};
}

struct LayerNormKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    assert(all_contiguous(op));
    auto const& x = op.inputs[0];
    return {x.shape[0], x.shape[1], static_cast<float>(attributes_of<NormAttributes>(op).eps)};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    for_each_row(exec, label, e.rows, operands_of<T>(p, e));
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    auto const o = operands_of<T>(p, e);
    for (std::int64_t m = 0; m < e.rows; ++m) {
      auto const* const x = o.x + m * e.columns;
      double mean = 0, variance = 0;
      for (std::int64_t j = 0; j < e.columns; ++j) mean += to_float(x[j]);
      mean /= static_cast<double>(e.columns);
      for (std::int64_t j = 0; j < e.columns; ++j) variance += std::pow(to_float(x[j]) - mean, 2);
      double const rstd = 1 / std::sqrt(variance / static_cast<double>(e.columns) + e.eps);
      o.mean[m] = static_cast<float>(mean);
      o.rstd[m] = static_cast<float>(rstd);
      for (std::int64_t j = 0; j < e.columns; ++j) {
        double const y = (to_float(x[j]) - mean) * rstd * to_float(o.gamma[j]);
        double const shift = o.beta ? to_float(o.beta[j]) : 0;
        o.y[m * e.columns + j] = store<T>(static_cast<float>(y + shift));
      }
    }
  }
};

}  // namespace

Kernel kernel_layernorm() {
  return typed_kernel<LayerNormKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
