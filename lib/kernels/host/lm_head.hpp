// Contains what the ops `lm_head_loss` and `lm_head_loss_backward` share. They take `rows_at_once`
// rows at a time, so that only logits [rows_at_once, vocab] exist at a time, in fp32. Logits are
// not rounded to bf16, because losses would then have the error of bf16 logits (2^-9 of the
// largest).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/bf16.hpp"
#include "graph/operands.hpp"
#include "kernels/formulas/fast_math.hpp"
#include "kernels/host/product.hpp"
#include "kernels/kernel.hpp"
#include "kernels/pointers.hpp"
#include "kernels/portable/rows.hpp"

namespace spillway::host {

struct LmHead {
  std::int64_t rows, hidden, vocab, rows_at_once;
  MatrixLayout x, w;  // [rows, hidden] and [vocab, hidden]
  bool bias;          // whether logits have a bias [vocab]
  float scale;        // the factor by which logits are multiplied
  bool add_loss;      // whether to add to the `loss` of earlier micro-batches of the step
  std::int64_t threads;
  bool portable;

  // Returns how many rows to take from row `first` on: `rows_at_once`, or as many as are left.
  std::int64_t rows_from(std::int64_t first) const {
    return rows - first < rows_at_once ? rows - first : rows_at_once;
  }
  // Counts the portions. Each has `rows_at_once` rows, but the last may have fewer.
  std::int64_t portions() const { return div_ceil(rows, rows_at_once); }
  std::int64_t row_stride() const { return padded_columns(x.dtype, vocab, portable); }
  // Returns the layout of `row_count` rows of logits, in fp32, or of the derivatives of the loss
  // with respect to logits, in the type of x.
  MatrixLayout vocabulary_rows(DType dtype, std::int64_t row_count) const {
    auto layout = dense_matrix(dtype, row_count, vocab);
    layout.row_stride = row_stride();
    return layout;
  }
  std::int64_t portion_bytes(DType dtype) const {
    return round_up<std::int64_t>(rows_at_once * row_stride() * size_bytes(dtype), 64);
  }
};
LmHead lm_head(KernelContext const& context, Op const& op);

// Computes a product of at most `rows_at_once` rows at a time. It has two Matmuls, because fewer
// rows than that may be left at the end.
class RowsProduct {
 public:
  // shape(rows) must return the shape of the product for that many rows.
  RowsProduct(LmHead const& head, std::function<MatmulShape(std::int64_t)> const& shape);

  std::int64_t workspace_bytes() const;
  void operator()(Exec const& exec, std::int64_t rows, MatmulOperands const& operands) const {
    (rows == m_rows_at_once ? m_full : *m_last)(exec, operands);
  }

 private:
  std::int64_t m_rows_at_once;
  Matmul m_full;
  std::optional<Matmul> m_last;
};
RowsProduct logits_product(LmHead const& head);  // x w^T + bias, the unscaled logits

// Returns the address of a row of a matrix.
template <class T>
T* row_at(T* data, MatrixLayout const& layout, std::int64_t row) {
  return data + row * layout.row_stride;
}

// Computes losses = weight (logsumexp(logits) - logits[target]) with logits = scale * products. The
// loss of a row with weight 0 is 0 whatever its products are. With kSlopes it also computes the
// derivatives of losses with respect to products, scale * weight (softmax(logits) -
// onehot(target)), to which `slopes` points. They may replace the products in place.
template <class T, bool kSlopes>
struct LossRows {
  float const* products;
  std::int32_t const* targets;
  float const* weights;
  float* losses;
  T* slopes;
  std::int64_t vocab, row_stride;  // slopes in columns [vocab, row_stride) become 0
  float scale;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const* const in = products + row * row_stride;
    auto* const out = kSlopes ? slopes + row * row_stride : nullptr;
    float const weight = weights[row];
    if constexpr (kSlopes)
      team.for_columns(row_stride - vocab,
                       [=, this](std::int64_t j) { out[vocab + j] = store<T>(0.0f); });
    if (weight == 0) {
      team.once([=, this] { losses[row] = 0; });
      if constexpr (kSlopes)
        team.for_columns(vocab, [=](std::int64_t j) { out[j] = store<T>(0.0f); });
      return;
    }
    auto const target = targets[row];
    float const factor = scale, at_target = factor * in[target];
    float const top =
        team.max_columns(vocab, at_target, [=](std::int64_t j) { return factor * in[j]; });
    float const sum = team.template sum_columns<float>(
        vocab, [=](std::int64_t j) { return fast_exp(factor * in[j] - top); });
    team.once([=, this] { losses[row] = weight * (std::log(sum) + (top - at_target)); });
    if constexpr (kSlopes) {
      float const share = 1.0f / sum, slope = weight * factor;
      team.for_columns(vocab, [=](std::int64_t j) {
        float const p = fast_exp(factor * in[j] - top) * share;
        out[j] = store<T>(slope * (j == target ? p - 1.0f : p));
      });
    }
  }
};

// Sets loss[0] to the sum of losses and loss[1] to the sum of weights, or adds to them if
// head.add_loss is true. Sums are made in fp64 in the order of formulas/sum_lanes.hpp.
void sum_losses(Exec const& exec, LmHead const& head, float const* losses, float const* weights,
                double* loss);

// For the serial references, sets loss[0] to the sum of losses and loss[1] to the sum of weights,
// or adds to them if head.add_loss is true, on the calling thread.
void serial_sum_losses(LmHead const& head, float const* losses, float const* weights, double* loss);

// Computes softmax(scale (x w^T + bias)) of one row in fp64, for the serial references. Returns the
// row's loss without weight, log(sum of exp(logits)) - logit of the target.
template <class T>
double serial_softmax(LmHead const& head, T const* x, T const* w, T const* bias,
                      std::int32_t target, double* softmax) {
  double top = -INFINITY, sum = 0;
  for (std::int64_t v = 0; v < head.vocab; ++v) {
    double dot = 0;
    for (std::int64_t c = 0; c < head.hidden; ++c)
      dot += double{to_float(x[c * head.x.column_stride])} *
             to_float(w[v * head.w.row_stride + c * head.w.column_stride]);
    softmax[v] = head.scale * (dot + (bias ? to_float(bias[v]) : 0.0f));
    top = softmax[v] > top ? softmax[v] : top;
  }
  double const at_target = softmax[target];
  for (std::int64_t v = 0; v < head.vocab; ++v) sum += softmax[v] = std::exp(softmax[v] - top);
  for (std::int64_t v = 0; v < head.vocab; ++v) softmax[v] /= sum;
  return std::log(sum) + top - at_target;
}

}  // namespace spillway::host
