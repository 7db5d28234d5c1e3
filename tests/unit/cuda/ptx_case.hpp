// What tests of kernels of PTX share: one module, and vectors of fp32 on the device.
#pragma once

#include "tests/unit/cuda/cuda_case.hpp"
#include "tests/unit/cuda/hand_made_module.hpp"

namespace spillway::test::cuda {

class CudaPtx : public CudaStandIn {
 protected:
  static constexpr unsigned n = 77;
  static constexpr std::size_t kBytes = n * sizeof(float);

  static std::vector<float> all(float value) { return std::vector<float>(n, value); }
  // Vectors x and y, apart from each other.
  float* x() const { return reinterpret_cast<float*>(device.at()); }
  float* y() const { return reinterpret_cast<float*>(device.at(4096)); }

  void set(float* to, std::vector<float> const& values) const {
    copy(to, values.data(), values.size() * sizeof(float), stream);
  }
  std::vector<float> get(float const* from) const {
    std::vector<float> result(n);
    copy(result.data(), from, kBytes, stream);
    return result;
  }
  // Launches to[i] = from[i] + value.
  cudaError_t add(float* to, float const* from, float value, unsigned count = n,
                  cudaStream_t on = nullptr) {
    return launch(module.kernel("add"), 3, 32, on == nullptr ? stream : on, to, from, count, value);
  }

  HandMadeModule module{kPtx};
  DeviceGranule device;
  TestStream stream;
};

}  // namespace spillway::test::cuda
