// Derives from the views of an op how it uses its operands and which bytes they have.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/cuda/address_range.hpp"

namespace spillway::test::cuda {

struct Operand {
  std::string_view name = "workspace";
  bool present = true;
  bool reads = false, writes = false;
  bool fresh = false;      // says that it is written and not read, so its old bytes must not matter
  std::int64_t bytes = 0;  // counts from the begin of the first element to the end of the last
  // Ranges without gaps, relative to the first element: a view may leave out bytes between rows.
  std::vector<AddressRange> pieces = {};
  // Ranges between the parameters of a chunk, which the op reads though nobody writes or uses them.
  std::vector<AddressRange> gaps = {};
};

// Cuts a view into its longest ranges without gaps, in bytes relative to its first element.
std::vector<AddressRange> pieces_of(View const& view, std::int64_t element_bytes);

// Lists an op's inputs, its outputs and, if it has one, its workspace.
std::vector<Operand> operands(KernelContext const& context, Op const& op);

}  // namespace spillway::test::cuda
