// Manages memory of a CUDA device and pins main memory for the device.
#pragma once

#include <string>

#include "device/cuda/addresses.hpp"
#include "device/cuda/stream.hpp"
#include "device/device.hpp"

namespace spillway {

// All work that uses a CudaMemory must have ended before the CudaMemory is destroyed.
class CudaMemory final : public DeviceMemory {
 public:
  // `stream` sets bytes to zero when they become usable. It must outlive the CudaMemory.
  CudaMemory(CudaContext const& context, CudaStream& stream, std::string name, std::int64_t bytes,
             std::int64_t reserve_bytes);

  void commit(std::int64_t bytes) override;
  DeviceBytes at(std::int64_t offset, std::int64_t bytes) const override;
  std::int64_t bytes() const override { return m_bytes; }
  std::int64_t reserved_bytes() const override { return m_addresses.reserved_bytes(); }

 private:
  CudaStream& m_stream;
  CudaAddresses m_addresses;
  std::int64_t m_bytes = 0;
};

class CudaPinned final : public Pinned {
 public:
  CudaPinned(CudaContext const& context, HostBytes bytes);
  ~CudaPinned() override;
  CudaPinned(CudaPinned const&) = delete;
  CudaPinned& operator=(CudaPinned const&) = delete;

 private:
  CudaContext const& m_context;
  HostBytes m_bytes;
};

}  // namespace spillway
