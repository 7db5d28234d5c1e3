#include "kernels/cuda/lm_head.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"

namespace spillway::cuda {
namespace {

// Returns the alignment of the first row of every portion.
std::int64_t portions_alignment(KernelContext const& context, View const& rows,
                                std::int64_t rows_at_once) {
  auto const bytes = size_bytes(dtype(context, rows));
  return alignment_at(rows.offset * bytes | rows_at_once * rows.strides[0] * bytes);
}

std::optional<Product> product_of_last(LmHead const& head, FormOfRows const& form,
                                       ProductChoices const& choices) {
  auto const last = head.rows % head.rows_at_once;
  if (last == 0) return {};
  return Product(head.name, form(last), choices);
}

}  // namespace

LmHead lm_head(KernelContext const& context, Op const& op) {
  auto const& attributes = attributes_of<LmHeadAttributes>(op);
  auto const of = [&](auto const& o) {
    auto const rows_at_once = std::min(attributes.chunk, o.x.shape[0]);
    return LmHead{.name = op.name,
                  .rows = o.x.shape[0],
                  .hidden = o.x.shape[1],
                  .vocab = o.w.shape[0],
                  .rows_at_once = rows_at_once,
                  .x = matrix_layout(dtype(context, o.x), o.x),
                  .w = matrix_layout(dtype(context, o.w), o.w),
                  .x_alignment_bytes = portions_alignment(context, o.x, rows_at_once),
                  .w_alignment_bytes = alignment_of(dtype(context, o.w), o.w),
                  .scale = static_cast<float>(attributes.scale),
                  .add_loss = is_in_place(op, o.loss),
                  .at = cuda_loss_workspace(context, op)};
  };
  return with_operands<OpKind::lm_head_loss, OpKind::lm_head_loss_backward>(op, of);
}

FormOfRows logits_form(LmHead const& head) {
  return [head](std::int64_t rows) {
    auto x = head.x;
    x.rows = rows;
    return product_form(
        {.a = x, .b = head.w.transposed(), .c = head.vocabulary_rows(DType::f32, rows)},
        {.a = head.x_alignment_bytes, .b = head.w_alignment_bytes});
  };
}

std::vector<ProductForm> forms(LmHead const& head, FormOfRows const& form) {
  std::vector<ProductForm> all{form(head.rows_at_once)};
  if (auto const last = head.rows % head.rows_at_once; last > 0) all.push_back(form(last));
  return all;
}

RowsProduct::RowsProduct(LmHead const& head, FormOfRows const& form, ProductChoices const& choices)
    : m_rows_at_once(head.rows_at_once),
      m_full(head.name, form(head.rows_at_once), choices),
      m_last(product_of_last(head, form, choices)) {}

LmHeadBackward lm_head_backward(KernelContext const& context, Op const& op) {
  auto const layout = [&](View const& view) { return matrix_layout(dtype(context, view), view); };
  auto const o = operands<OpKind::lm_head_loss_backward>(op);
  bool const has_dw = is_present(o.dw), has_dbias = is_present(o.dbias);
  auto const type = has_dw || has_dbias ? dtype(context, has_dw ? o.dw : o.dbias) : DType::f32;
  check(!has_dw || type == DType::f32 || is_contiguous(o.dw) || is_contiguous(transposed(o.dw)),
        name(op.kind), kHasGaps);
  auto head = lm_head(context, op);
  auto const dx_alignment = portions_alignment(context, o.dx, head.rows_at_once);
  return {.head = std::move(head),
          .dx = layout(o.dx),
          .dw = has_dw ? layout(o.dw) : MatrixLayout{},
          .dx_alignment_bytes = dx_alignment,
          .dw_alignment_bytes = has_dw ? alignment_of(type, o.dw) : 0,
          .gradients = type,
          .has_dw = has_dw,
          .bias = has_dbias,
          .accumulate = has_dw && is_in_place(op, o.dw)};
}

FormOfRows dx_form(LmHeadBackward const& b) {
  return [b](std::int64_t rows) {
    auto dx = b.dx;
    dx.rows = rows;
    return product_form({.a = b.slopes(rows), .b = b.head.w, .c = dx},
                        {.b = b.head.w_alignment_bytes, .c = b.dx_alignment_bytes});
  };
}

FormOfRows dw_form(LmHeadBackward const& b, bool add) {
  return [b, add](std::int64_t rows) {
    auto x = b.head.x;
    x.rows = rows;
    return product_form(
        {.a = b.slopes(rows).transposed(), .b = x, .c = b.sum(), .accumulate = add},
        {.b = b.head.x_alignment_bytes, .c = b.rounds() ? kOperandBytes : b.dw_alignment_bytes});
  };
}

}  // namespace spillway::cuda
