// Describes a matrix product as cublasLt takes it. cublasLt stores matrices by columns, so that a
// product c = a b whose c lies by rows becomes c^T = b^T a^T.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/matrix.hpp"

namespace spillway::cuda {

// Tensors begin at multiples of this many bytes (plan/memory/lifetime.hpp), and so do the parts of
// workspaces.
inline constexpr std::int64_t kOperandBytes = 64;

// Returns the largest power of two, at most kOperandBytes, that divides `first_byte`: the alignment
// of an operand that begins at this byte of a tensor.
std::int64_t alignment_at(std::int64_t first_byte);
// Returns the alignment of all elements that `view` may begin with.
std::int64_t alignment_of(DType dtype, View const& view);

// Says of which number of bytes the addresses of a product's operands are multiples.
struct Alignments {
  std::int64_t a = kOperandBytes, b = kOperandBytes, c = kOperandBytes;
  std::int64_t bias = kOperandBytes, addend = kOperandBytes;
};

// A StoredMatrix has `columns` columns of `rows` elements, each `leading` elements behind the last.
struct StoredMatrix {
  DType dtype = DType::f32;
  std::int64_t rows = 0, columns = 0, leading = 0;
  bool transposed = false;  // whether the product takes the transpose of what is stored
  std::int64_t alignment_bytes = kOperandBytes;
};

// Describes result = left right (+ bias in every column) (+ addend) (+ result). All that decides
// which algorithms can make the product is here.
struct ProductForm {
  StoredMatrix left, right, result;
  std::optional<StoredMatrix> addend;
  std::int64_t bias_alignment_bytes = 0;  // 0 if there is no bias
  bool swapped = false;                   // whether `left` is b and `right` is a
  bool accumulate = false;                // whether the result is added to what is there
};

// Returns whether cublasLt can add this bias and addend, which have the type of a: only to results
// of that type.
bool adds_in_place(MatmulShape const& shape);

// Throws std::logic_error for a shape that is not valid or that cublasLt lacks: a
// bias or an addend that adds_in_place() refuses, a bias for results that lie by columns, an addend
// that lies by rows where the result lies by columns or the reverse.
ProductForm product_form(MatmulShape const& shape, Alignments const& alignments = {});

// Returns a text that differs for forms that may need different algorithms, such as "bf16 TN
// 768x512x3072 to bf16, ld 3072 3072 768, aligned 64 64 64, bias aligned 64".
std::string text(ProductForm const& form);

}  // namespace spillway::cuda
