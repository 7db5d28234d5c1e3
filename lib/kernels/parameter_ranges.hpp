// The parameters of an op's chunk as ranges of its elements: what updates and norms may touch.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"

namespace spillway {

struct ParameterRange {
  std::int64_t offset, count;  // elements of the chunk
  bool decay;
};

// In the chunk's order; made when an op is bound.
inline std::vector<ParameterRange> parameter_ranges(KernelContext const& context, Op const& op) {
  std::vector<ParameterRange> ranges;
  for (auto const& parameter : context.chunks[static_cast<std::size_t>(op.chunk)].parameters)
    ranges.push_back({parameter.view.offset, element_count(parameter.view.shape), parameter.decay});
  return ranges;
}

}  // namespace spillway
