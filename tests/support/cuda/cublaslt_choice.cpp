// Implements cublasLt's functions that find algorithms, or set up an algorithm that was found
// before.
#include <cublasLt.h>

#include "tests/support/cuda/cublaslt_attributes.hpp"
#include "tests/support/cuda/cublaslt_call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::Algorithm;
using cuda::LtLayout;
using cuda::LtMatmul;
using cuda::LtPreference;
using cuda::LtProblem;
using cuda::State;

namespace {

LtProblem problem_of(State& all, cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                     std::array<cublasLtMatrixLayout_t, 4> const& layouts) {
  cuda::expect_handle_of_thread(all, handle);
  return cuda::problem_of(cuda::lt_object<LtMatmul>(all, matmul), cuda::lt_layouts(all, layouts));
}

void tell(cublasLtMatmulHeuristicResult_t& result, Algorithm const& algorithm,
          LtProblem const& problem) {
  result.workspaceSize = static_cast<std::size_t>(cuda::workspace_bytes(algorithm, problem));
  result.state = CUBLAS_STATUS_SUCCESS;
  result.wavesCount = 1;
}

void expect_algorithm(cublasLtMatmulAlgo_t const* algo) {
  if (algo == nullptr) throw cuda::invalid("there is no algorithm");
}

}  // namespace

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  return cuda::lt_call("cublasLtMatmulAlgoGetHeuristic", [&](State& all, bool) {
    auto const problem = problem_of(all, handle, matmul, {a, b, c, d});
    if (most < 1 || results == nullptr || count == nullptr)
      throw cuda::invalid("there is no room for an algorithm");
    auto const found = cuda::choose(problem, cuda::lt_object<LtPreference>(all, preference));
    *count = std::min(most, static_cast<int>(found.size()));
    if (found.empty()) throw cuda::not_supported("the preference admits no algorithm");
    for (int i = 0; i < *count; ++i) {
      auto const& algorithm = found[static_cast<std::size_t>(i)];
      results[i].algo = pack(algorithm);
      tell(results[i], algorithm, problem);
    }
  });
}

cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle, cublasComputeType_t compute,
                                      cudaDataType_t scale, cudaDataType_t a, cudaDataType_t b,
                                      cudaDataType_t c, cudaDataType_t d, int id,
                                      cublasLtMatmulAlgo_t* algo) {
  return cuda::lt_call("cublasLtMatmulAlgoInit", [&](State& all, bool) {
    cuda::expect_handle_of_thread(all, handle);
    expect_algorithm(algo);
    *algo = pack(cuda::algorithm(id, {compute, scale, a, b, c, d}));
  });
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t matmul,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       cublasLtMatmulAlgo_t const* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  return cuda::lt_call("cublasLtMatmulAlgoCheck", [&](State& all, bool) {
    expect_algorithm(algo);
    if (result == nullptr) throw cuda::invalid("there is no room for the result");
    auto const problem = problem_of(all, handle, matmul, {a, b, c, d});
    auto const algorithm = cuda::unpack(*algo);
    cuda::check(algorithm, problem);
    tell(*result, algorithm, problem);
  });
}

cublasStatus_t cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void const* value, std::size_t bytes) {
  auto const* const name = "cublasLtMatmulAlgoConfigSetAttribute";
  return cuda::lt_call(name, [&](State& all, bool) {
    expect_algorithm(algo);
    auto algorithm = cuda::unpack(*algo);
    if (!cuda::set_attribute(attributes(algorithm), &algorithm, attribute, value, bytes))
      cuda::note_needless(all, name);
    *algo = pack(algorithm);
  });
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(cublasLtMatmulAlgo_t const* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  return cuda::lt_call("cublasLtMatmulAlgoConfigGetAttribute", [&](State&, bool) {
    expect_algorithm(algo);
    auto const algorithm = cuda::unpack(*algo);
    cuda::get_attribute(attributes(algorithm), &algorithm, attribute, value, bytes, written);
  });
}
