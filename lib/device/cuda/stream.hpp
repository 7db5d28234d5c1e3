// Implements streams and events of a CUDA device.
#pragma once

#include <cuda_runtime_api.h>

#include "device/cuda/context.hpp"
#include "device/stream.hpp"

namespace spillway {

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(CudaContext const& context);
  ~CudaEvent() override;
  CudaEvent(CudaEvent const&) = delete;
  CudaEvent& operator=(CudaEvent const&) = delete;

  bool done() const override;
  double seconds_since(Event const& earlier) const override;

  cudaEvent_t handle() const { return m_event; }

 private:
  CudaContext const& m_context;
  cudaEvent_t m_event = nullptr;
};

// The work of a CudaStream is not ordered against the work of CUDA's default stream.
class CudaStream final : public Stream {
 public:
  CudaStream(CudaContext const& context, bool urgent);
  ~CudaStream() override;
  CudaStream(CudaStream const&) = delete;
  CudaStream& operator=(CudaStream const&) = delete;

  void copy(DeviceBytes to, HostBytes from) override;
  void copy(HostBytes to, DeviceBytes from) override;
  void copy(DeviceBytes to, DeviceBytes from) override;
  void fill(DeviceBytes bytes, std::byte value) override;
  void record(Event& event) override;
  void wait(Event const& event) override;
  void* handle() const override { return m_stream; }

  void finish();  // waits until all work in the stream has ended

 private:
  CudaContext const& m_context;
  cudaStream_t m_stream = nullptr;
};

}  // namespace spillway
