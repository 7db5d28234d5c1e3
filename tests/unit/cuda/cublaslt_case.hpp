// What tests of the stand-in's cublasLt share: objects that end, and a product that asks for them.
#pragma once

#include <cublasLt.h>

#include <functional>
#include <vector>

#include "base/unique_handle.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda {

// An object that its maker gives and that ends with this.
template <class Handle, auto destroy>
class LtOwned : public UniqueHandle<Handle, destroy, nullptr> {
 public:
  explicit LtOwned(std::function<cublasStatus_t(Handle*)> const& make)
      : UniqueHandle<Handle, destroy, nullptr>(made(make)) {}
  operator Handle() const { return this->get(); }

 private:
  static Handle made(std::function<cublasStatus_t(Handle*)> const& make) {
    Handle result = nullptr;
    EXPECT_EQ(make(&result), CUBLAS_STATUS_SUCCESS);
    return result;
  }
};

struct TestLtHandle : LtOwned<cublasLtHandle_t, cublasLtDestroy> {
  TestLtHandle() : LtOwned(cublasLtCreate) {}
};

struct TestLayout : LtOwned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> {
  TestLayout(cudaDataType_t type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld)
      : LtOwned(
            [&](auto* made) { return cublasLtMatrixLayoutCreate(made, type, rows, cols, ld); }) {}
  template <class Value>
  cublasStatus_t set(cublasLtMatrixLayoutAttribute_t attribute, Value value) const {
    return cublasLtMatrixLayoutSetAttribute(*this, attribute, &value, sizeof value);
  }
  void set_batch(std::int32_t count, std::int64_t stride) const {
    EXPECT_EQ(set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride), CUBLAS_STATUS_SUCCESS);
  }
};

struct TestMatmul : LtOwned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> {
  TestMatmul()
      : LtOwned([](auto* made) {
          return cublasLtMatmulDescCreate(made, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        }) {}
  template <class Value>
  cublasStatus_t set(cublasLtMatmulDescAttributes_t attribute, Value value) const {
    return cublasLtMatmulDescSetAttribute(*this, attribute, &value, sizeof value);
  }
  void transpose(bool a, bool b) const {
    auto const op = [](bool yes) { return yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    EXPECT_EQ(set(CUBLASLT_MATMUL_DESC_TRANSA, op(a)), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(set(CUBLASLT_MATMUL_DESC_TRANSB, op(b)), CUBLAS_STATUS_SUCCESS);
  }
  void add_bias(void const* bias) const {
    EXPECT_EQ(set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias), CUBLAS_STATUS_SUCCESS);
  }
};

struct TestPreference : LtOwned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> {
  explicit TestPreference(std::uint64_t most_workspace_bytes, std::uint32_t alignment_bytes = 256)
      : LtOwned(cublasLtMatmulPreferenceCreate) {
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace_bytes);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_bytes);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_bytes);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_bytes);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_bytes);
  }
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, Value value) const {
    EXPECT_EQ(cublasLtMatmulPreferenceSetAttribute(*this, attribute, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
};

// The objects of one product; its operands' layouts are a, b and d, which is also C's.
struct LtCase {
  TestMatmul matmul;
  TestLayout a, b, d;

  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(
      cublasLtHandle_t handle, std::uint64_t most_workspace_bytes,
      std::uint32_t alignment_bytes = 256) const {
    TestPreference const preference(most_workspace_bytes, alignment_bytes);
    std::vector<cublasLtMatmulHeuristicResult_t> result(8);
    int count = 0;
    EXPECT_EQ(cublasLtMatmulAlgoGetHeuristic(handle, matmul, a, b, d, d, preference, 8,
                                             result.data(), &count),
              CUBLAS_STATUS_SUCCESS);
    result.resize(static_cast<std::size_t>(count));
    return result;
  }
};

// What a call of cublasLtMatmul has beside its objects.
struct LtCall {
  void const *a, *b, *c;
  void* d;
  float alpha = 1, beta = 0;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

inline cublasStatus_t multiply(cublasLtHandle_t handle, LtCase const& lt,
                               cublasLtMatmulAlgo_t const& algo, LtCall const& call,
                               cudaStream_t stream) {
  return cublasLtMatmul(handle, lt.matmul, &call.alpha, call.a, lt.a, call.b, lt.b, &call.beta,
                        call.c, lt.d, call.d, lt.d, &algo, call.workspace, call.workspace_bytes,
                        stream);
}

}  // namespace spillway::test::cuda
