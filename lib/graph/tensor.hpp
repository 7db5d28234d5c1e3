// Defines what a training step computes with: tensors and views of them. These hold no elements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.hpp"

namespace spillway {

using TensorId = std::int32_t;
using Shape = std::vector<std::int64_t>;  // in elements, the outermost axis first

inline std::int64_t element_count(Shape const& shape) {
  std::int64_t n = 1;
  for (auto const extent : shape) n *= extent;
  return n;
}

enum class Role : std::uint8_t {
  parameter,  // the weights of one chunk
  remainder,  // lower halves of the fp32 masters (bf16 runs only)
  moment,     // an optimizer's running average, such as AdamW's m
  // Holds the gradient of one chunk, from a step's first contribution to the update, or a part of
  // that gradient (GradientPart).
  gradient,
  activation,  // made and used inside one micro-batch
  // Holds an activation that is read beyond the next block: it is kept or spilled, never
  // recomputed. No model family has one.
  edge,
  workspace,  // scratch of one op
  batch,      // fields of one micro-batch, such as tokens and targets
  scalar,     // loss, norms, control words or logits of one step
  // Holds keys and values of earlier rows, which later steps of generating read. It is persistent.
  cache,
};

// A tensor is contiguous. It has two `versions` if a step may still read one while the next step's
// is being prepared; even and odd steps use them in turn.
struct Tensor {
  TensorId id = -1;
  std::string name;
  Role role = Role::activation;
  DType dtype = DType::f32;
  Shape shape;
  int block = -1;
  int chunk = -1;
  bool persistent = false;
  int versions = 1;

  std::int64_t bytes() const { return element_count(shape) * size_bytes(dtype); }
  bool is_activation() const { return role == Role::activation || role == Role::edge; }
  bool operator==(Tensor const&) const = default;
};

// Describes a strided part of a tensor; offset and strides count elements. For example, q, k and v
// may be three views of one product, and a transpose is a view with its extents and strides
// swapped.
struct View {
  TensorId tensor = -1;
  std::int64_t offset = 0;
  Shape shape;
  Shape strides;

  bool operator==(View const&) const = default;
};

// Returns false for View{}, which stands for an operand that an op does without.
inline bool is_present(View const& view) {
  return view.tensor >= 0;
}

// Throws Error(bad_input) if the tensor has more than kMostBytes.
void check_size(Tensor const& tensor);

View whole(Tensor const& tensor);
View transposed(View const& view);                                     // `view` must be 2-D
View row_range(View const& view, std::int64_t first, std::int64_t n);  // rows [first, first+n)
View columns(View const& view, std::int64_t first, std::int64_t n);  // [first, first+n) of all rows
View reshaped(View const& view, Shape shape);                        // `view` must be contiguous
bool is_contiguous(View const& view);

// Holds the range [first, last) of a tensor's elements.
struct ElementRange {
  std::int64_t first = 0, last = 0;
  bool operator==(ElementRange const&) const = default;
};
// Returns the smallest range that has all elements that the view touches.
ElementRange bounding_range(View const& view);

}  // namespace spillway
