// Says where the parameters lie that an update takes whole.
#pragma once

#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

// A vector counts as one row.
struct WholeParameter {
  int number;           // within the chunk
  std::int64_t offset;  // in elements, from the start of the chunk
  std::int64_t rows, columns;
  bool is_matrix, decay;

  std::int64_t elements() const { return rows * columns; }
};

// Returns all parameters of the op's chunk. The function allocates, so call it when an op is bound.
inline std::vector<WholeParameter> whole_parameters(KernelContext const& context, Op const& op) {
  auto const& chunk = context.chunks[static_cast<std::size_t>(op.chunk)];
  check(element_count(op.inputs.front().shape) == chunk.elements, name(op.kind),
        "a part of a chunk has no whole parameters");
  std::vector<WholeParameter> all;
  for (Parameter const& parameter : chunk.parameters) {
    auto const& [tensor, offset, shape, strides] = parameter.view;
    bool const is_matrix = shape.size() == 2;
    auto const columns = is_matrix ? shape[1] : element_count(shape);
    all.push_back({static_cast<int>(all.size()), offset, element_count(shape) / columns, columns,
                   is_matrix, parameter.decay});
  }
  return all;
}

// Returns State::parts of the state with that name of the op's chunk, which may lack it. An operand
// does not say which state it is, since what was brought to an update lies in another tensor.
inline std::vector<ElementRange> parts_of(KernelContext const& context, Op const& op,
                                          std::string_view state) {
  auto const& chunk = context.chunks[static_cast<std::size_t>(op.chunk)];
  return chunk.parts_of(chunk.state(state));
}

}  // namespace spillway
