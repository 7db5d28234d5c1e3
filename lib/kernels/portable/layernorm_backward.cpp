// The op `layernorm_backward` computes, with h = (x - mean) rstd and d = dy gamma, for each row of
// C columns:
//   dx = rstd (d - sum(d)/C - h sum(d h)/C) [+ addend],   dgamma = sum of dy h over rows,
//   dbeta = sum of dy over rows.
#include <cmath>

#include "kernels/portable/partitions.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::layernorm_backward";
Label const label_sums = "spillway::layernorm_backward_sums";
Label const label_parameters = "spillway::layernorm_backward_parameters";

struct Prepared {
  Partitions partitions;
  std::int64_t columns;
};

template <class T, class G>
using OpPointers = Pointers<OpKind::layernorm_backward, T, G>;

// Computes dx. On a host a unit of work is a partition, and what its rows contribute to dgamma and
// dbeta is summed on the way. On a device it is a row, and SumParameters has computed the sums.
template <class T, class G, bool Addend>
struct LayerNormBackward {
  OpPointers<T, G> o;
  float* partial;  // [partitions][2][columns]: sums for dgamma, then for dbeta
  Prepared p;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t unit) const {
    if constexpr (kLikeDevice) {
      differentiate_row(team, unit, nullptr, nullptr);
    } else {
      auto* const dgamma = partial + unit * 2 * p.columns;
      auto* const dbeta = dgamma + p.columns;
      team.for_columns(p.columns, [=](std::int64_t j) { dgamma[j] = dbeta[j] = 0; });
      for (auto row = p.partitions.first(unit); row < p.partitions.last(unit); ++row)
        differentiate_row(team, row, dgamma, dbeta);
    }
  }

 private:
  KOKKOS_FUNCTION void differentiate_row(RowTeam const& team, std::int64_t row, float* dgamma,
                                         float* dbeta) const {
    auto const at = row * p.columns;
    auto const *const dy = o.dy + at, *const x = o.x + at, *const gamma = o.gamma;
    auto const* const addend = Addend ? o.addend + at : nullptr;
    auto* const dx = o.dx + at;
    float const mean = o.mean[row], rstd = o.rstd[row], n = static_cast<float>(p.columns);
    auto const h = [=](std::int64_t j) { return (to_float(x[j]) - mean) * rstd; };
    auto const d = [=](std::int64_t j) { return to_float(dy[j]) * to_float(gamma[j]); };
    float const d_mean = team.sum_columns<float>(p.columns, d) / n;
    float const dh_mean =
        team.sum_columns<float>(p.columns, [=](std::int64_t j) { return d(j) * h(j); }) / n;

    team.for_columns(p.columns, [=](std::int64_t j) {
      float const normal = h(j), incoming = to_float(dy[j]);
      if constexpr (!kLikeDevice) {
        dgamma[j] = std::fma(incoming, normal, dgamma[j]);
        dbeta[j] += incoming;
      }
      float const slope = rstd * (std::fma(-normal, dh_mean, d(j)) - d_mean);
      if constexpr (Addend) {
        dx[j] = store<T>(slope + to_float(addend[j]));
      } else {
        dx[j] = store<T>(slope);
      }
    });
  }
};

// Sums, on a device, what the rows of a partition contribute to one column of dgamma and dbeta.
template <class T, class G>
struct SumParameters {
  OpPointers<T, G> o;
  float* partial;
  Prepared p;

  KOKKOS_FUNCTION void sum_column(std::int64_t partition, std::int64_t j) const {
    float dgamma = 0, dbeta = 0;
    read_ahead<8>(
        p.partitions.first(partition), p.partitions.last(partition), 1,
        [=, this](std::int64_t row) { return term(row, row * p.columns + j); },
        [&](Term const& of) {
          float const normal = (to_float(of.x) - of.mean) * of.rstd, incoming = to_float(of.dy);
          dgamma = std::fma(incoming, normal, dgamma);
          dbeta += incoming;
        });
    auto* const sums = partial + partition * 2 * p.columns + j;
    sums[0] = dgamma;
    sums[p.columns] = dbeta;
  }

 private:
  struct Term {
    T dy, x;
    float mean, rstd;
  };

  KOKKOS_FUNCTION Term term(std::int64_t row, std::int64_t at) const {
    return {o.dy[at], o.x[at], o.mean[row], o.rstd[row]};
  }
};

// The serial reference computes in fp64, dx row by row and then dgamma and dbeta column by column.
template <class T, class G>
void differentiate(OpPointers<T, G> const& o, Prepared const& p) {
  auto const C = p.columns;
  auto const h = [&](std::int64_t m, std::int64_t j) {
    return (static_cast<double>(to_float(o.x[m * C + j])) - o.mean[m]) * o.rstd[m];
  };
  for (std::int64_t m = 0; m < p.partitions.rows; ++m) {
    auto const d = [&](std::int64_t j) {
      return static_cast<double>(to_float(o.dy[m * C + j])) * to_float(o.gamma[j]);
    };
    double d_sum = 0, dh_sum = 0;
    for (std::int64_t j = 0; j < C; ++j) d_sum += d(j), dh_sum += d(j) * h(m, j);
    for (std::int64_t j = 0; j < C; ++j) {
      double const dx = o.rstd[m] * (d(j) - (d_sum + h(m, j) * dh_sum) / static_cast<double>(C));
      double const addend = o.addend ? to_float(o.addend[m * C + j]) : 0;
      o.dx[m * C + j] = store<T>(static_cast<float>(dx + addend));
    }
  }
  for (std::int64_t j = 0; j < C; ++j) {
    double dgamma = 0, dbeta = 0;
    for (std::int64_t m = 0; m < p.partitions.rows; ++m) {
      dgamma += to_float(o.dy[m * C + j]) * h(m, j);
      dbeta += to_float(o.dy[m * C + j]);
    }
    o.dgamma[j] = store<G>(static_cast<float>(dgamma));
    if (o.dbeta) o.dbeta[j] = store<G>(static_cast<float>(dbeta));
  }
}

struct LayerNormBackwardKernel {
  static constexpr auto kind = OpKind::layernorm_backward;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const& dx = operands<kind>(op).dx;
    return {Partitions::of(dx.shape[0]), dx.shape[1]};
  }
  static auto typed(auto const& o) { return std::tie(o.dx, o.dgamma); }
  static std::int64_t workspace_bytes(KernelContext const& context, Op const& op) {
    auto const p = prepare(context, op);
    return p.partitions.count * 2 * p.columns * size_bytes(DType::f32);
  }

  template <class T, class G>
  static void run(Exec const& exec, OpPointers<T, G> const& o, Prepared const& p) {
    auto* const partial = static_cast<float*>(o.workspace);
    if constexpr (kLikeDevice)
      for_each_sum(exec, label_sums, p.partitions.count, p.columns,
                   SumParameters<T, G>{o, partial, p});
    auto const units = kLikeDevice ? p.partitions.rows : p.partitions.count;
    if (o.addend) {
      for_each_row(exec, label, units, LayerNormBackward<T, G, true>{o, partial, p});
    } else {
      for_each_row(exec, label, units, LayerNormBackward<T, G, false>{o, partial, p});
    }
    auto const sum = [&](float const* parts, G* out) {
      for_each_range(exec, label_parameters, p.columns,
                     AddRows<PartialRows, G>{{parts, 2 * p.columns}, out, p.partitions.count});
    };
    sum(partial, o.dgamma);
    if (o.dbeta) sum(partial + p.columns, o.dbeta);
  }

  template <class T, class G>
  static void run_serially(OpPointers<T, G> const& o, Prepared const& p) {
    differentiate(o, p);
  }
};

}  // namespace

Kernel kernel_layernorm_backward() {
  return typed_kernel<LayerNormBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
