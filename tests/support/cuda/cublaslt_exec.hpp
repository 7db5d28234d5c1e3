// Makes an Exec on which products of kernels/cuda are launched in a stream of the stand-in.
#pragma once

#include "kernels/cuda/lt_objects.hpp"
#include "kernels/cuda/stream.hpp"

namespace spillway::test::cuda {

// The stream must live longer than the Exec, and be of the device that the thread has chosen.
class LtExec final : public Exec {
 public:
  explicit LtExec(cudaStream_t stream) : m_stream(stream) {}

  cudaStream_t stream() const { return m_stream; }
  cublasLtHandle_t handle() const { return m_handle.get(); }

 private:
  cudaStream_t m_stream;
  spillway::cuda::LtHandle m_handle;
};

}  // namespace spillway::test::cuda
