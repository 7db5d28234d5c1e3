#include "io/h5/checkpoint_layout.hpp"

#include <algorithm>

#include "base/math.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {
namespace {

constexpr std::int64_t kGrain = 1024;  // in elements; parts are cut at multiples of 4 KiB

}  // namespace

CheckpointLayout spread_evenly(std::vector<TensorInfo> tensors, int ranks) {
  std::int64_t total = 0;
  for (auto const& tensor : tensors) total += element_count(tensor.shape);
  auto const grains = div_ceil(total, kGrain);
  // Every part has `grains / ranks` grains of kGrain elements, and the first `grains % ranks` parts
  // have one more. `grains * (part + 1)` could overflow.
  auto const end_of = [&](std::int64_t part) {
    auto const before = grains / ranks * (part + 1) + std::min(part + 1, grains % ranks);
    return std::min(total, before * kGrain);
  };

  CheckpointLayout layout{std::move(tensors), {}};
  std::int64_t at = 0;  // the position in the sequence of all elements
  int rank = 0;
  for (std::size_t tensor = 0; tensor < layout.tensors.size(); ++tensor) {
    auto const elements = element_count(layout.tensors[tensor].shape);
    for (std::int64_t first = 0; first < elements;) {
      while (end_of(rank) <= at) ++rank;
      auto const size = std::min(elements - first, end_of(rank) - at);
      layout.extents.push_back({tensor, rank, first, size});
      first += size;
      at += size;
    }
  }
  return layout;
}

}  // namespace spillway
