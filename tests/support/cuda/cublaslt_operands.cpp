#include "tests/support/cuda/cublaslt_operands.hpp"

#include <cublasLt.h>

#include <algorithm>

#include "tests/support/cuda/cublaslt_algorithms.hpp"
#include "tests/support/cuda/cublaslt_call.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/operands.hpp"

namespace spillway::test::cuda {
namespace {

LtOperand place(State const& all, std::string name, void const* at, std::int64_t bytes,
                std::int64_t alignment_bytes, std::vector<AddressRange> pieces) {
  auto const range = range_of(at, bytes);
  if (at == nullptr) throw invalid(name + " is nowhere");
  if (range.first % static_cast<std::uintptr_t>(alignment_bytes) != 0)
    throw invalid(fmt::format("{} is not aligned to {} bytes", name, alignment_bytes));
  auto* const touchable = reachable(all, range);
  if (touchable == nullptr) throw invalid("the device cannot reach all bytes of " + name);
  if (!is_expected(range)) throw invalid(name + " is not where its item says");
  for (auto& piece : pieces) piece.first += range.first;
  std::ranges::sort(pieces, {}, &AddressRange::first);
  return {std::move(name), range, std::move(pieces), touchable};
}

bool overlaps_itself(LtOperand const& operand) {
  auto const overlaps = [](AddressRange const& a, AddressRange const& b) { return a.overlaps(b); };
  return std::ranges::adjacent_find(operand.pieces, overlaps) != operand.pieces.end();
}

}  // namespace

LtOperand place_matrix(State const& all, std::string name, void const* at, LtMatrix const& matrix,
                       std::int64_t alignment_bytes) {
  auto const element = element_bytes(matrix.type);
  auto const view = matrix.view();
  return place(all, std::move(name), at, bounding_range(view).last * element,
               std::max(element, alignment_bytes), pieces_of(view, element));
}

bool overlap(LtOperand const& a, LtOperand const& b) {
  auto one = a.pieces.begin(), other = b.pieces.begin();
  while (one != a.pieces.end() && other != b.pieces.end()) {
    if (one->overlaps(*other)) return true;
    ++(one->first < other->first ? one : other);
  }
  return false;
}

void expect_apart(LtOperands const& all, LtProblem const& problem) {
  auto const same = [](LtMatrix const& x, LtMatrix const& y) {
    return x.row_stride == y.row_stride && x.col_stride == y.col_stride &&
           x.batch_stride == y.batch_stride;
  };
  auto const in_place =
      all.c.range == all.d.range && same(problem.matrices[2], problem.matrices[3]);
  if (overlaps_itself(all.d)) throw invalid("D overlaps itself");
  for (auto const* const written : {&all.d, &all.workspace}) {
    for (auto const* const other : {&all.a, &all.b, &all.d, &all.c, &all.bias}) {
      if (written == other || (in_place && written == &all.d && other == &all.c)) continue;
      if (overlap(*written, *other))
        throw invalid(fmt::format("{} overlaps {}", written->name, other->name));
    }
  }
}

LtOperand place_bias(State const& all, LtMatmul const& matmul, LtProblem const& problem,
                     std::int64_t alignment_bytes) {
  if (matmul.epilogue != CUBLASLT_EPILOGUE_BIAS) {
    if (matmul.bias != nullptr) throw invalid("there is a bias, and the epilogue takes none");
    return {"the bias"};
  }
  if (matmul.bias_batch_stride < 0) throw invalid("the bias has a negative batch stride");
  LtMatrix const vectors{.type = problem.types.d,
                         .rows = problem.m,
                         .cols = 1,
                         .row_stride = 1,
                         .col_stride = problem.m,
                         .batch_stride = matmul.bias_batch_stride,
                         .batch_count = problem.batch_count};
  return place_matrix(all, "the bias", matmul.bias, vectors, alignment_bytes);
}

LtOperand place_workspace(State const& all, void const* at, std::size_t bytes,
                          std::int64_t needed_bytes) {
  auto const size = static_cast<std::int64_t>(bytes);
  if (size < needed_bytes)
    throw invalid(
        fmt::format("the workspace has {} bytes, and the algorithm needs {}", size, needed_bytes));
  if (size == 0) return {"the workspace"};
  if (!all.memory.is_device(reinterpret_cast<std::uintptr_t>(at)))
    throw invalid("the workspace is not on the device");
  return place(all, "the workspace", at, size, kWorkspaceAlignmentBytes, {{0, size}});
}

}  // namespace spillway::test::cuda
