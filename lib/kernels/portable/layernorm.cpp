// The op `layernorm` computes y = (x - mean) rstd gamma + beta for each row (Ba, Kiros and Hinton,
// arXiv:1607.06450). The variance is computed around the mean, so that no large numbers cancel.
#include <cmath>

#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::layernorm";

struct Prepared {
  std::int64_t rows, columns;
  float eps;
};

template <class T>
struct LayerNorm {
  Pointers<OpKind::layernorm, T> o;
  Prepared prepared;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const columns = prepared.columns;
    auto const* const in = o.x + row * columns;
    float const n = static_cast<float>(columns);
    float const center =
        team.sum_columns<float>(columns, [=](std::int64_t j) { return to_float(in[j]); }) / n;
    float const variance = team.sum_columns<float>(columns, [=](std::int64_t j) {
      float const d = to_float(in[j]) - center;
      return d * d;
    }) / n;
    float const scale = 1.0f / std::sqrt(variance + prepared.eps);
    team.once([=, this] {
      o.mean[row] = center;
      o.rstd[row] = scale;
    });
    normalize(team, row, center, scale);
  }

 private:
  KOKKOS_FUNCTION void normalize(RowTeam const& team, std::int64_t row, float center,
                                 float scale) const {
    auto const* const in = o.x + row * prepared.columns;
    auto* const out = o.y + row * prepared.columns;
    auto const *const g = o.gamma, *const b = o.beta;
    if (b) {
      team.for_columns(prepared.columns, [=](std::int64_t j) {
        out[j] =
            store<T>(std::fma((to_float(in[j]) - center) * scale, to_float(g[j]), to_float(b[j])));
      });
    } else {
      team.for_columns(prepared.columns, [=](std::int64_t j) {
        out[j] = store<T>((to_float(in[j]) - center) * scale * to_float(g[j]));
      });
    }
  }
};

struct LayerNormKernel {
  static constexpr auto kind = OpKind::layernorm;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const& x = operands<kind>(op).x;
    return {x.shape[0], x.shape[1], static_cast<float>(attributes_of<NormAttributes>(op).eps)};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::layernorm, T> const& o, Prepared const& p) {
    for_each_row(exec, label, p.rows, LayerNorm<T>{o, p});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::layernorm, T> const& o, Prepared const& p) {
    for (std::int64_t m = 0; m < p.rows; ++m) {
      auto const* const x = o.x + m * p.columns;
      double mean = 0, variance = 0;
      for (std::int64_t j = 0; j < p.columns; ++j) mean += to_float(x[j]);
      mean /= static_cast<double>(p.columns);
      for (std::int64_t j = 0; j < p.columns; ++j) variance += std::pow(to_float(x[j]) - mean, 2);
      double const rstd = 1 / std::sqrt(variance / static_cast<double>(p.columns) + p.eps);
      o.mean[m] = static_cast<float>(mean);
      o.rstd[m] = static_cast<float>(rstd);
      for (std::int64_t j = 0; j < p.columns; ++j) {
        double const y = (to_float(x[j]) - mean) * rstd * to_float(o.gamma[j]);
        double const shift = o.beta ? to_float(o.beta[j]) : 0;
        o.y[m * p.columns + j] = store<T>(static_cast<float>(y + shift));
      }
    }
  }
};

}  // namespace

Kernel kernel_layernorm() {
  return typed_kernel<LayerNormKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
