// Says which elements of an op's chunk belong to parameters. The other elements are gaps, which
// updates and norms leave alone.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/kernel.hpp"

namespace spillway {

struct ParameterRange {
  std::int64_t offset, count;  // in elements, `offset` from the start of the op's slice
  bool decay;
};

// Returns the ranges of elements that belong to parameters, in ascending order. The op works on the
// whole chunk or on a slice that begins at the chunk's element `of_chunk.first` and has as many
// elements as the op's first input, the gradient. The function allocates, so call it when an op is
// bound.
inline std::vector<ParameterRange> parameter_ranges(KernelContext const& context, Op const& op,
                                                    UpdateRange const& of_chunk) {
  auto const begin = of_chunk.first;
  auto const end = begin + element_count(op.inputs.front().shape);
  std::vector<ParameterRange> ranges;
  for (auto const& parameter : context.chunks[static_cast<std::size_t>(op.chunk)].parameters) {
    auto const first = std::max(begin, parameter.view.offset);
    auto const last = std::min(end, parameter.view.offset + element_count(parameter.view.shape));
    if (first < last) ranges.push_back({first - begin, last - first, parameter.decay});
  }
  return ranges;
}

}  // namespace spillway
