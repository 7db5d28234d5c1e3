// Names cublasLt's statuses and its version.
#include <cublasLt.h>
#include <cuda_runtime_api.h>

namespace {

struct Words {
  char const *name, *text;
};

Words words(cublasStatus_t status) {
#define SPILLWAY_STATUS(name, text) \
  case name:                        \
    return {                        \
#name, text                   \
    }
  switch (status) {
    SPILLWAY_STATUS(CUBLAS_STATUS_SUCCESS, "success");
    SPILLWAY_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized");
    SPILLWAY_STATUS(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed");
    SPILLWAY_STATUS(CUBLAS_STATUS_INVALID_VALUE,
                    "an unsupported value or parameter was passed to the function");
    SPILLWAY_STATUS(CUBLAS_STATUS_ARCH_MISMATCH,
                    "the function requires a feature that the device does not have");
    SPILLWAY_STATUS(CUBLAS_STATUS_MAPPING_ERROR, "an access to device memory failed");
    SPILLWAY_STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "the device failed to execute");
    SPILLWAY_STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed");
    SPILLWAY_STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "the functionality requested is not supported");
    SPILLWAY_STATUS(CUBLAS_STATUS_LICENSE_ERROR, "the licence could not be checked");
  }
#undef SPILLWAY_STATUS
  return {"CUBLAS_STATUS_UNKNOWN", "unknown status"};
}

}  // namespace

char const* cublasLtGetStatusName(cublasStatus_t status) {
  return words(status).name;
}

char const* cublasLtGetStatusString(cublasStatus_t status) {
  return words(status).text;
}

std::size_t cublasLtGetVersion() {
  return CUBLAS_VERSION;
}

std::size_t cublasLtGetCudartVersion() {
  return CUDART_VERSION;
}
