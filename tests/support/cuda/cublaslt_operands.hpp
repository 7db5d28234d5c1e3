// Says where the operands of a product are, and checks whether they may be there.
#pragma once

#include <string>
#include <vector>

#include "tests/support/cuda/cublaslt_problem.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Describes the bytes of an operand and where the stand-in can touch them. `range` is empty if the
// operand is absent.
struct LtOperand {
  std::string name;
  AddressRange range = {};
  std::vector<AddressRange> pieces = {};  // leaves gaps between columns out; sorted by address
  std::byte* touchable = nullptr;
};

struct LtOperands {
  LtOperand a, b, c, d, bias, workspace;
};

// These functions throw Refused unless the device reaches all bytes, expect_ranges() allows them,
// and they are aligned; place_workspace() also if the workspace is too small or not on the device.
LtOperand place_matrix(State const& all, std::string name, void const* at, LtMatrix const& matrix,
                       std::int64_t alignment_bytes);
LtOperand place_bias(State const& all, LtMatmul const& matmul, LtProblem const& problem,
                     std::int64_t alignment_bytes);
LtOperand place_workspace(State const& all, void const* at, std::size_t bytes,
                          std::int64_t needed_bytes);

bool overlap(LtOperand const& a, LtOperand const& b);
// Throws Refused if D overlaps itself, or if D or the workspace overlaps another operand, except
// that C may be D entirely.
void expect_apart(LtOperands const& all, LtProblem const& problem);

}  // namespace spillway::test::cuda
