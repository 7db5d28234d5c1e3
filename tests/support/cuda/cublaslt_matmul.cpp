// Implements cublasLt's product, which checks all arguments and enqueues a piece in a stream.
#include <cublasLt.h>

#include <cstring>

#include "tests/support/cuda/cublaslt_algorithms.hpp"
#include "tests/support/cuda/cublaslt_call.hpp"
#include "tests/support/cuda/cublaslt_operands.hpp"
#include "tests/support/cuda/cublaslt_product.hpp"

namespace cuda = spillway::test::cuda;
using cuda::invalid;
using cuda::LtMatmul;
using cuda::LtOperand;
using cuda::LtOperands;
using cuda::Piece;
using cuda::State;

namespace {

float factor(State const& all, char const* name, void const* at) {
  if (at == nullptr) throw invalid(std::string(name) + " is nowhere");
  if (is_device(all, cuda::range_of(at, sizeof(float))))
    throw invalid(std::string(name) + " lies on the device, and its pointer mode says the host");
  float result = 0;
  std::memcpy(&result, at, sizeof result);
  return result;
}

void expect_stream(State& all, cudaStream_t stream) {
  auto const* const queue = all.queues.stream(cuda::number(stream));
  if (queue == nullptr) throw invalid("a stream that does not exist");
  if (queue->device != cuda::thread_state().device) throw invalid("a stream of another device");
}

// Makes the piece of work that computes the product. When the piece begins, it makes the workspace
// NaN, and D too unless D is read as C.
Piece piece_of(LtOperands const& operands, cuda::LtProduct const& product) {
  Piece piece{.kind = Piece::Kind::kernel, .label = "cublasLtMatmul"};
  auto const accesses = [&](LtOperand const& operand, bool writes) {
    if (operand.range.bytes > 0) piece.accesses.push_back({operand.range, writes});
  };
  auto const reads_c = product.beta != 0;
  for (auto const* const read : {&operands.a, &operands.b, &operands.bias}) accesses(*read, false);
  if (reads_c) accesses(operands.c, false);
  for (auto const* const written : {&operands.d, &operands.workspace}) {
    accesses(*written, true);
    if (reads_c && overlap(*written, operands.c)) continue;
    piece.fresh.insert(piece.fresh.end(), written->pieces.begin(), written->pieces.end());
  }
  piece.run = [product] { multiply(product); };
  return piece;
}

}  // namespace

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, void const* alpha,
                              void const* a, cublasLtMatrixLayout_t a_layout, void const* b,
                              cublasLtMatrixLayout_t b_layout, void const* beta, void const* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, cublasLtMatmulAlgo_t const* algo,
                              void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  return cuda::lt_call("cublasLtMatmul", [&](State& all, bool stuck) {
    cuda::expect_handle_of_thread(all, handle);
    expect_stream(all, stream);
    auto const& matmul = cuda::lt_object<LtMatmul>(all, desc);
    auto const problem =
        cuda::problem_of(matmul, cuda::lt_layouts(all, {a_layout, b_layout, c_layout, d_layout}));
    if (algo == nullptr)
      throw cuda::not_supported("there is no algorithm, and one that is found now may be another");
    auto const algorithm = cuda::unpack(*algo);
    cuda::check(algorithm, problem);
    auto const alignment = cuda::alignment_bytes(algorithm);
    auto const& matrices = problem.matrices;
    LtOperands const operands{
        .a = place_matrix(all, "A", a, matrices[0], alignment),
        .b = place_matrix(all, "B", b, matrices[1], alignment),
        .c = place_matrix(all, "C", c, matrices[2], alignment),
        .d = place_matrix(all, "D", d, matrices[3], alignment),
        .bias = place_bias(all, matmul, problem, alignment),
        .workspace = place_workspace(all, workspace, workspace_bytes,
                                     cuda::workspace_bytes(algorithm, problem))};
    expect_apart(operands, problem);
    auto piece = piece_of(operands, {.problem = problem,
                                     .splits = algorithm.config.splits,
                                     .alpha = factor(all, "alpha", alpha),
                                     .beta = factor(all, "beta", beta),
                                     .a = operands.a.touchable,
                                     .b = operands.b.touchable,
                                     .c = operands.c.touchable,
                                     .bias = operands.bias.touchable,
                                     .bias_batch_stride = matmul.bias_batch_stride,
                                     .d = operands.d.touchable});
    piece.stuck = stuck;
    cuda::enqueue(all, cuda::number(stream), std::move(piece));
  });
}
