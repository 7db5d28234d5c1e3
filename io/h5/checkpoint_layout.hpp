// Who writes what of a checkpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// Elements [first, first + elements) of a tensor, in row-major order.
struct ExtentSpec {
  std::size_t tensor;
  int rank;  // that writes them; of a tensor it has one extent at most
  std::int64_t first, elements;

  bool operator==(ExtentSpec const&) const = default;
};

struct CheckpointLayout {
  std::vector<TensorInfo> tensors;
  std::vector<ExtentSpec> extents;  // of every tensor, without gaps, in their order
};

// The tensors, one after the other, cut into `ranks` parts that differ by no more than 4 KiB, of
// which each rank writes one. Most tensors stay whole. A rank may have nothing to write.
CheckpointLayout spread_evenly(std::vector<TensorInfo> tensors, int ranks);

}  // namespace spillway
