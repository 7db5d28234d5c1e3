// Contains what the ops `lm_head_loss` and `lm_head_loss_backward` share on a GPU. As on the host
// (kernels/host/lm_head.hpp), they take `rows_at_once` rows at a time, a portion, whose logits
// exist in fp32.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/math.hpp"
#include "kernels/cuda/product.hpp"
#include "kernels/cuda_loss_workspace.hpp"
#include "kernels/kernel.hpp"

namespace spillway::cuda {

struct LmHead {
  std::string name;  // is the op's
  std::int64_t rows, hidden, vocab, rows_at_once;
  MatrixLayout x, w;                                  // [rows, hidden] and [vocab, hidden]
  std::int64_t x_alignment_bytes, w_alignment_bytes;  // the first is that of every portion
  float scale;                                        // the factor by which logits are multiplied
  bool add_loss;  // whether to add to the loss of the step so far
  CudaLossWorkspace at;

  // Returns how many rows to take from row `first` on.
  std::int64_t rows_from(std::int64_t first) const {
    return rows - first < rows_at_once ? rows - first : rows_at_once;
  }
  std::int64_t portions() const { return div_ceil(rows, rows_at_once); }
  // Returns the layout of rows of logits, or of the derivatives with respect to them.
  MatrixLayout vocabulary_rows(DType dtype, std::int64_t row_count) const {
    return {dtype, row_count, vocab, at.row_stride, 1};
  }
};
LmHead lm_head(KernelContext const& context, Op const& op);

// Returns the form of a product for this number of rows.
using FormOfRows = std::function<ProductForm(std::int64_t rows)>;
FormOfRows logits_form(LmHead const& head);  // is that of x w^T, without bias and scale

// Returns the forms for whole portions and for the last one, if that is smaller.
std::vector<ProductForm> forms(LmHead const& head, FormOfRows const& form);

// A RowsProduct computes a product of the rows of a portion.
class RowsProduct {
 public:
  RowsProduct(LmHead const& head, FormOfRows const& form, ProductChoices const& choices);

  void operator()(Exec const& exec, std::int64_t rows, MatmulOperands const& operands) const {
    (rows == m_rows_at_once ? m_full : *m_last)(exec, operands);
  }

 private:
  std::int64_t m_rows_at_once;
  Product m_full;
  std::optional<Product> m_last;
};

// Returns the address of a row of a matrix.
template <class T>
T* row_at(T* data, MatrixLayout const& layout, std::int64_t row) {
  return data + row * layout.row_stride;
}

// The op `lm_head_loss_backward` multiplies slopes, the derivatives with respect to products.
struct LmHeadBackward {
  LmHead head;
  MatrixLayout dx, dw;
  std::int64_t dx_alignment_bytes, dw_alignment_bytes;
  DType gradients;  // of dw and dbias
  bool has_dw;      // false if w is frozen
  bool bias;        // whether there is a bias, whose gradient is asked for
  bool accumulate;  // whether to add to what dw holds

  // Returns whether dw is rounded, and its sum lies in the workspace.
  bool rounds() const { return has_dw && gradients == DType::bf16; }
  MatrixLayout slopes(std::int64_t rows) const { return head.vocabulary_rows(head.x.dtype, rows); }
  MatrixLayout sum() const {  // the layout of the fp32 sum for dw, with the strides of dw
    auto sum = dw;
    sum.dtype = DType::f32;
    return sum;
  }
};
LmHeadBackward lm_head_backward(KernelContext const& context, Op const& op);
FormOfRows dx_form(LmHeadBackward const& b);            // is that of slopes w
FormOfRows dw_form(LmHeadBackward const& b, bool add);  // slopes^T x, added to the sum if `add`

}  // namespace spillway::cuda
