#include "kernels/host/lm_head.hpp"

#include <algorithm>

#include "kernels/dispatch.hpp"

namespace spillway::host {
namespace {

Label const label = "spillway::lm_head_loss sum";

struct Float64 {
  float const* values;

  KOKKOS_FUNCTION double operator()(std::int64_t i) const { return double{values[i]}; }
};

// SumLosses is launched for a single row, whose columns are the losses of all rows of x.
struct SumLosses {
  float const* losses;
  float const* weights;
  double* loss;
  std::int64_t rows;
  bool add;

  template <class Team>
  KOKKOS_FUNCTION void operator()(Team const& team, std::int64_t) const {
    double const sum = team.template sum_columns<double>(rows, Float64{losses});
    double const weight = team.template sum_columns<double>(rows, Float64{weights});
    team.once([=, this] {
      loss[0] = add ? loss[0] + sum : sum;
      loss[1] = add ? loss[1] + weight : weight;
    });
  }
};

}  // namespace

LmHead lm_head(KernelContext const& context, Op const& op) {
  auto const& attributes = attributes_of<LmHeadAttributes>(op);
  auto const of = [&](auto const& o) {
    return LmHead{.rows = o.x.shape[0],
                  .hidden = o.x.shape[1],
                  .vocab = o.w.shape[0],
                  .rows_at_once = std::min(attributes.chunk, o.x.shape[0]),
                  .x = matrix_layout(dtype(context, o.x), o.x),
                  .w = matrix_layout(dtype(context, o.w), o.w),
                  .bias = is_present(o.bias),
                  .scale = static_cast<float>(attributes.scale),
                  .add_loss = is_in_place(op, o.loss),
                  .threads = context.arithmetic.threads,
                  .portable = is_portable(context.arithmetic)};
  };
  return with_operands<OpKind::lm_head_loss, OpKind::lm_head_loss_backward>(op, of);
}

RowsProduct::RowsProduct(LmHead const& head, std::function<MatmulShape(std::int64_t)> const& shape)
    : m_rows_at_once(head.rows_at_once),
      m_full(shape(head.rows_at_once), head.threads, head.portable) {
  if (auto const last = head.rows % head.rows_at_once; last > 0)
    m_last.emplace(shape(last), head.threads, head.portable);
}

std::int64_t RowsProduct::workspace_bytes() const {
  return std::max(m_full.workspace_bytes(), m_last ? m_last->workspace_bytes() : 0);
}

RowsProduct logits_product(LmHead const& head) {
  return {head, [&](std::int64_t rows) {
            auto x = head.x;
            x.rows = rows;
            return MatmulShape{.a = x,
                               .b = head.w.transposed(),
                               .c = head.vocabulary_rows(DType::f32, rows),
                               .bias = head.bias};
          }};
}

void sum_losses(Exec const& exec, LmHead const& head, float const* losses, float const* weights,
                double* loss) {
  for_each_row(exec, label, 1, SumLosses{losses, weights, loss, head.rows, head.add_loss});
}

void serial_sum_losses(LmHead const& head, float const* losses, float const* weights,
                       double* loss) {
  SumLosses{losses, weights, loss, head.rows, head.add_loss}(HostRow{}, 0);
}

}  // namespace spillway::host
