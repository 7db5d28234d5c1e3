#include "kernels/cuda/lt_objects.hpp"

#include <fmt/core.h>

#include "base/error.hpp"

namespace spillway::cuda {
namespace {

std::string const kMaking = "making a product";

cudaDataType_t type_of(DType dtype) {
  return dtype == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

template <class Value>
void set(LtMatmul const& matmul, cublasLtMatmulDescAttributes_t attribute, Value const& value) {
  require(cublasLtMatmulDescSetAttribute(matmul.get(), attribute, &value, sizeof value), kMaking,
          "cublasLtMatmulDescSetAttribute");
}

template <class Value>
void set(LtPreference const& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         Value const& value) {
  require(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
          kMaking, "cublasLtMatmulPreferenceSetAttribute");
}

LtLayout layout(StoredMatrix const& matrix) {
  cublasLtMatrixLayout_t made = nullptr;
  require(cublasLtMatrixLayoutCreate(&made, type_of(matrix.dtype),
                                     static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.leading),
          kMaking, "cublasLtMatrixLayoutCreate");
  return LtLayout(made);
}

// The library takes the alignment of the bias from its address, so there must be one from the start
// on. Nobody reads there.
void add_bias(LtMatmul const& matmul, std::int64_t alignment_bytes) {
  set(matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  set(matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
      reinterpret_cast<void const*>(static_cast<std::uintptr_t>(alignment_bytes)));
}

LtMatmul matmul_of(ProductForm const& form) {
  cublasLtMatmulDesc_t made = nullptr;
  require(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), kMaking,
          "cublasLtMatmulDescCreate");
  LtMatmul matmul(made);
  if (form.left.transposed) set(matmul, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  if (form.right.transposed) set(matmul, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_T);
  if (form.bias_alignment_bytes > 0) add_bias(matmul, form.bias_alignment_bytes);
  return matmul;
}

}  // namespace

void require(cublasStatus_t status, std::string const& name, char const* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(Status::device,
              fmt::format("{}: {}: {}: {}", name, call, cublasLtGetStatusName(status),
                          cublasLtGetStatusString(status)));
}

LtHandle::LtHandle() {
  cublasLtHandle_t made = nullptr;
  require(cublasLtCreate(&made), "matrix products on a GPU", "cublasLtCreate");
  m_handle = UniqueHandle<cublasLtHandle_t, cublasLtDestroy, nullptr>(made);
}

LtObjects::LtObjects(ProductForm const& form)
    : matmul(matmul_of(form)),
      left(layout(form.left)),
      right(layout(form.right)),
      result(layout(form.result)) {
  if (form.addend) addend = layout(*form.addend);
}

LtPreference lt_preference(ProductForm const& form, std::int64_t most_bytes) {
  cublasLtMatmulPreference_t made = nullptr;
  require(cublasLtMatmulPreferenceCreate(&made), kMaking, "cublasLtMatmulPreferenceCreate");
  LtPreference preference(made);
  auto const alignment = [](StoredMatrix const& matrix) {
    return static_cast<std::uint32_t>(matrix.alignment_bytes);
  };
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(most_bytes));
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(form.left));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(form.right));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
      alignment(form.addend ? *form.addend : form.result));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(form.result));
  return preference;
}

}  // namespace spillway::cuda
