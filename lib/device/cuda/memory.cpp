#include "device/cuda/memory.hpp"

#include <fmt/core.h>

#include <utility>

#include "base/allocator_pass.hpp"
#include "base/check.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "device/cuda/calls.hpp"

namespace spillway {

CudaMemory::CudaMemory(CudaContext const& context, CudaStream& stream, std::string name,
                       std::int64_t bytes, std::int64_t reserve_bytes)
    : m_stream(stream), m_addresses(context, std::move(name), bytes, reserve_bytes) {
  commit(bytes);
}

void CudaMemory::commit(std::int64_t bytes) {
  refuse_when_locked("bytes of a device");
  m_addresses.resize(bytes);
  auto const before = std::exchange(m_bytes, bytes);
  if (before >= bytes) return;
  // Bytes that become usable may have old values, as in a granule that has kept its memory.
  m_stream.fill(at(before, bytes - before), std::byte{0});
  m_stream.finish();
}

DeviceBytes CudaMemory::at(std::int64_t offset, std::int64_t bytes) const {
  check(offset >= 0 && bytes >= 0 && offset + bytes <= m_bytes, "device memory",
        "bytes beyond its end are asked for");
  return DeviceBytes(m_addresses.first(), m_bytes).part(offset, bytes);
}

CudaPinned::CudaPinned(CudaContext const& context, HostBytes bytes)
    : m_context(context), m_bytes(bytes) {
  CudaCalls const calls(m_context);
  auto const result = cudaHostRegister(m_bytes.data(), m_bytes.size(),
                                       cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (result == cudaErrorMemoryAllocation) {
    throw Error(Status::cannot_fit, fmt::format("{}: {} of main memory cannot be pinned: {}",
                                                m_context.name, human_bytes(std::ssize(m_bytes)),
                                                cuda_failure("cudaHostRegister", result)));
  }
  calls.require(result, "cudaHostRegister", "pinning main memory");
}

CudaPinned::~CudaPinned() {
  end_cuda(m_context, [&](CudaCalls const& calls) {
    calls.require(cudaHostUnregister(m_bytes.data()), "cudaHostUnregister",
                  "ending the pinning of main memory");
  });
}

}  // namespace spillway
