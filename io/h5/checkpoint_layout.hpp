// Says which rank writes which part of a checkpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// An ExtentSpec names elements [first, first + elements) of a tensor, in row-major order.
struct ExtentSpec {
  std::size_t tensor;
  int rank;  // the rank that writes them; it has at most one extent of a tensor
  std::int64_t first, elements;

  bool operator==(ExtentSpec const&) const = default;
};

// An extent has a checksum for every so many elements, which is as much as a reader must read at
// least to know that a value is what was written.
inline constexpr std::int64_t kBlockElements = std::int64_t{1} << 18;

struct CheckpointLayout {
  std::vector<TensorInfo> tensors;
  std::vector<ExtentSpec> extents;  // cover every tensor in order and without gaps
};

// Cuts the tensors, as one sequence of elements, into `ranks` parts whose sizes differ by less than
// 8 KiB. Each rank writes one part, which may be empty. Only a tensor in which a part ends is cut.
CheckpointLayout spread_evenly(std::vector<TensorInfo> tensors, int ranks);

}  // namespace spillway
