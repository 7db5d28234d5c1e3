// Says which bytes a matrix has that is kept in fewer bits than the run computes with.
#pragma once

#include <cstdint>

#include "base/math.hpp"
#include "config/choices.hpp"
#include "graph/tensor.hpp"

namespace spillway {

inline constexpr std::int64_t kNf4Block = 64;   // elements that share a scale
inline constexpr std::int64_t kNf4Group = 256;  // scales that share a scale of their own
inline constexpr std::int64_t kNf4Values = 16, kScaleValues = 256;

// Describes a parameter that is quantized, or nothing if `form` is none. Its rows are those of
// nn.Linear, an output each: matrices that files have as [in, out] are turned over.
struct Quantized {
  Quantization form = Quantization::none;
  Shape shape = {};        // of the tensor in files
  bool is_turned = false;  // whether rows are the columns of `shape`

  std::int64_t rows() const { return shape[is_turned ? 1 : 0]; }
  std::int64_t columns() const { return shape[is_turned ? 0 : 1]; }
  bool operator==(Quantized const&) const = default;
};

// Says at which of a parameter's bytes its parts begin. A matrix in int8 has its elements, row by
// row, and then the largest magnitude of each row, as floats. One in nf4 has its elements, row by
// row and two in a byte, the first one in the upper half; the scales of blocks as codes of 8 bits;
// the floats by which groups of scales are scaled; the mean of all scales; and the values that
// codes of 8 and of 4 bits stand for.
struct QuantizedBytes {
  std::int64_t scales = 0, group_scales = 0, mean = 0, scale_values = 0, values = 0, all = 0;
};
constexpr QuantizedBytes quantized_bytes(Quantization form, std::int64_t rows,
                                         std::int64_t columns) {
  constexpr std::int64_t size = sizeof(float);
  auto const elements = rows * columns;
  QuantizedBytes at;
  if (form == Quantization::int8) {
    at.scales = round_up(elements, size);
    at.all = at.scales + rows * size;
    return at;
  }
  auto const blocks = div_ceil(elements, kNf4Block);
  at.scales = div_ceil<std::int64_t>(elements, 2);
  at.group_scales = round_up(at.scales + blocks, size);
  at.mean = at.group_scales + div_ceil(blocks, kNf4Group) * size;
  at.scale_values = at.mean + size;
  at.values = at.scale_values + kScaleValues * size;
  at.all = at.values + kNf4Values * size;
  return at;
}

}  // namespace spillway
