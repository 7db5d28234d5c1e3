#include "tests/support/cuda/cublaslt_exec.hpp"

namespace spillway::cuda {

cudaStream_t stream_of(Exec const& exec) {
  return dynamic_cast<test::cuda::LtExec const&>(exec).stream();
}

cublasLtHandle_t lt_handle_of(Exec const& exec) {
  return dynamic_cast<test::cuda::LtExec const&>(exec).handle();
}

}  // namespace spillway::cuda
