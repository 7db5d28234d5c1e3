// The parameters of an op's chunk as ranges of its elements: what updates and norms may touch.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/kernel.hpp"

namespace spillway {

struct ParameterRange {
  std::int64_t offset, count;  // elements of the op's slice
  bool decay;
};

// In the chunk's order; made when an op is bound. The op works on the whole chunk, or on a slice of
// it: from `of_chunk.first` on, as many elements as its gradient operand has.
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
