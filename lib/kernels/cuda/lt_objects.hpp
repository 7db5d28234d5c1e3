// Holds cublasLt's objects, which are made before step 0.
#pragma once

#include <cublasLt.h>

#include <optional>
#include <string>

#include "base/unique_handle.hpp"
#include "kernels/cuda/product_form.hpp"

namespace spillway::cuda {

// Throws Error(device), such as "op: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED: ...", unless
// `status` is success. `name` says what the call was for.
void require(cublasStatus_t status, std::string const& name, char const* call);

// An LtHandle is the state of cublasLt for the device that the calling thread has chosen.
class LtHandle {
 public:
  LtHandle();  // throws Error(device)
  cublasLtHandle_t get() const { return m_handle.get(); }

 private:
  UniqueHandle<cublasLtHandle_t, cublasLtDestroy, nullptr> m_handle;
};

using LtMatmul = UniqueHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy, nullptr>;
using LtLayout = UniqueHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy, nullptr>;
using LtPreference =
    UniqueHandle<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy, nullptr>;

// LtObjects describe a product to cublasLt. Products compute in fp32, and fp32 factors are not
// rounded to TF32.
struct LtObjects {
  LtMatmul matmul;
  LtLayout left, right, result;
  std::optional<LtLayout> addend;

  explicit LtObjects(ProductForm const& form);  // throws Error(device)
  cublasLtMatrixLayout_t added() const { return addend ? addend->get() : result.get(); }
};

// Says which algorithms the product may have: those that need no more workspace than `most_bytes`
// and no better alignment than the operands have, and that add parts of a sum in fp32, so that no
// part is rounded to bf16. Throws Error(device).
LtPreference lt_preference(ProductForm const& form, std::int64_t most_bytes);

}  // namespace spillway::cuda
