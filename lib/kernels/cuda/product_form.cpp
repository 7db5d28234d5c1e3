#include "kernels/cuda/product_form.hpp"

#include <fmt/core.h>

#include <string_view>

#include "base/check.hpp"
#include "base/math.hpp"

namespace spillway::cuda {
namespace {

constexpr std::string_view kProduct = "a product";

// Returns how far apart columns are, whose elements are neighbours, or nothing if the matrix does
// not lie by columns. One column alone may take any room, and takes whole lines.
std::optional<std::int64_t> leading(MatrixLayout const& m) {
  if (m.rows > 1 && m.row_stride != 1) return {};
  if (m.columns == 1) return round_up(m.rows, kOperandBytes);
  if (m.column_stride < m.rows) return {};
  return m.column_stride;
}

std::optional<StoredMatrix> by_columns(MatrixLayout const& m, std::int64_t alignment_bytes) {
  auto const apart = leading(m);
  if (!apart) return {};
  return StoredMatrix{m.dtype, m.rows, m.columns, *apart, false, alignment_bytes};
}

StoredMatrix factor(MatrixLayout const& m, std::int64_t alignment_bytes) {
  if (auto const stored = by_columns(m, alignment_bytes)) return *stored;
  auto stored = by_columns(m.transposed(), alignment_bytes);
  check(stored.has_value(), kProduct,
        "neither the rows nor the columns of a factor lie one after the other without gaps");
  stored->transposed = true;
  return *stored;
}

void check_shape(MatmulShape const& s) {
  check(s.a.columns == s.b.rows && s.c.rows == s.a.rows && s.c.columns == s.b.columns, kProduct,
        "its extents and those of its factors do not fit together");
  check(s.a.dtype == s.b.dtype && (s.a.dtype == DType::f32 || s.a.dtype == DType::bf16), kProduct,
        "its factors are both fp32 or both bf16");
  check(s.c.dtype == DType::f32 || s.c.dtype == s.a.dtype, kProduct,
        "is fp32, or of the type of its factors");
  check(!s.accumulate || s.addend == nullptr, kProduct, "is added to one matrix");
  check(adds_in_place(s), kProduct, "cublasLt adds no bias or addend of bf16 to sums in fp32");
}

// A column alone lies by columns if it can, since rows of one element each are aligned for few
// algorithms.
bool lies_by_rows(MatmulShape const& s) {
  bool const is_column =
      s.c.columns == 1 && !s.bias && leading(s.c) && (s.addend == nullptr || leading(*s.addend));
  return !is_column && leading(s.c.transposed());
}

char letter(StoredMatrix const& matrix) {
  return matrix.transposed ? 'T' : 'N';
}

}  // namespace

std::int64_t alignment_at(std::int64_t first_byte) {
  auto const bits = first_byte | kOperandBytes;
  return bits & -bits;
}

std::int64_t alignment_of(DType dtype, View const& view) {
  return alignment_at(view.offset * size_bytes(dtype));
}

bool adds_in_place(MatmulShape const& shape) {
  return shape.c.dtype == shape.a.dtype || (!shape.bias && shape.addend == nullptr);
}

ProductForm product_form(MatmulShape const& shape, Alignments const& alignments) {
  check_shape(shape);
  bool const by_rows = lies_by_rows(shape);
  auto const turned = [&](MatrixLayout const& m) { return by_rows ? m.transposed() : m; };
  auto a = factor(turned(shape.a), alignments.a);
  auto b = factor(turned(shape.b), alignments.b);
  auto const c = by_columns(turned(shape.c), alignments.c);
  check(c.has_value(), kProduct,
        "neither its rows nor its columns lie one after the other without gaps");
  check(by_rows || !shape.bias, kProduct, "a bias is added to one that lies by rows");
  ProductForm form{.left = by_rows ? b : a,
                   .right = by_rows ? a : b,
                   .result = *c,
                   .addend = {},
                   .bias_alignment_bytes = shape.bias ? alignments.bias : 0,
                   .swapped = by_rows,
                   .accumulate = shape.accumulate};
  if (shape.addend == nullptr) return form;
  check(shape.addend->rows == shape.c.rows && shape.addend->columns == shape.c.columns, kProduct,
        "its addend has other extents");
  form.addend = by_columns(turned(*shape.addend), alignments.addend);
  check(form.addend.has_value(), kProduct, "its addend lies across its rows");
  form.addend->dtype = shape.c.dtype;
  return form;
}

std::string text(ProductForm const& form) {
  auto const& [left, right, result, addend, bias_bytes, swapped, accumulate] = form;
  auto const depth = left.transposed ? left.rows : left.columns;
  auto all = fmt::format("{} {}{} {}x{}x{} to {}, ld {} {} {}, aligned {} {} {}", name(left.dtype),
                         letter(left), letter(right), result.rows, result.columns, depth,
                         name(result.dtype), left.leading, right.leading, result.leading,
                         left.alignment_bytes, right.alignment_bytes, result.alignment_bytes);
  if (addend)
    all += fmt::format(", addend ld {} aligned {}", addend->leading, addend->alignment_bytes);
  if (bias_bytes > 0) all += fmt::format(", bias aligned {}", bias_bytes);
  return all;
}

}  // namespace spillway::cuda
