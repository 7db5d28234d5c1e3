// Says which elements of an op's chunk belong to parameters. The other elements are gaps, which
// updates and norms leave alone.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/sharing.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

struct ParameterRange {
  std::int64_t offset, count;  // in elements, `offset` from the start of the op's slice
  bool decay;
};

// Returns the element of its chunk at which the op starts.
inline std::int64_t first_element(KernelContext const& context, Op const& op,
                                  UpdateRange const& range) {
  if (!range.of_slice) return range.first;
  auto const& chunk = context.chunks[static_cast<std::size_t>(op.chunk)];
  Sharing const sharing{context.arithmetic.ranks, chunk.sharers};
  return sharing.kept(chunk.elements, context.rank).first + range.first;
}

// Returns the ranges of elements that belong to parameters, in ascending order. The op works on the
// whole chunk or on a part of it that begins at `range.first` and has as many elements as the op's
// first input, the gradient. The last ranks' slices may be shorter than their operands, whose ends
// belong to no parameter. The function allocates, so call it when an op is bound.
inline std::vector<ParameterRange> parameter_ranges(KernelContext const& context, Op const& op,
                                                    UpdateRange const& range) {
  auto const begin = first_element(context, op, range);
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
