// What an op's operands are, as far as its views tell.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

struct Operand {
  std::string_view name = "workspace";
  bool present = true;
  bool reads = false, writes = false;
  bool fresh = false;      // written without being read, so what was there must not matter
  std::int64_t bytes = 0;  // from the first element to the end of the last
  // Pieces without gaps, relative to the first element: a view may leave out bytes between rows.
  std::vector<Range> pieces = {};
};

// Cuts a view into its longest pieces without gaps, relative to its first element.
std::vector<Range> pieces_of(View const& view, std::int64_t element_bytes);

// Lists inputs, outputs and the workspace if there is one.
std::vector<Operand> operands(KernelContext const& context, Op const& op);

}  // namespace spillway::test::cuda
