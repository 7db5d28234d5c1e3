// Where the operands of a product lie, and whether they may.
#pragma once

#include <string>
#include <vector>

#include "tests/support/cuda/cublaslt_problem.hpp"
#include "tests/support/cuda/state.hpp"

namespace spillway::test::cuda {

// Bytes that a product touches, and where they can be touched. One without bytes is absent.
struct LtOperand {
  std::string name;
  Range range = {};
  std::vector<Range> pieces = {};  // without the gaps between columns, in order
  std::byte* touchable = nullptr;
};

struct LtOperands {
  LtOperand a, b, c, d, bias, workspace;
};

// These throw Refused unless the device reaches all bytes, the thread's item has told of them and
// they are aligned.
LtOperand place_matrix(State const& all, std::string name, void const* at, LtMatrix const& matrix,
                       std::int64_t alignment_bytes);
LtOperand place_bias(State const& all, LtMatmul const& matmul, LtProblem const& problem,
                     std::int64_t alignment_bytes);
LtOperand place_workspace(State const& all, void const* at, std::size_t bytes,
                          std::int64_t needed_bytes);

bool overlap(LtOperand const& a, LtOperand const& b);
// Throws Refused: what is written must be nobody else's; only C may be D, as a whole.
void expect_apart(LtOperands const& all, LtProblem const& problem);

}  // namespace spillway::test::cuda
