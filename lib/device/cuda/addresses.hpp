// A CudaAddresses is a range of a CUDA device's addresses, of which the first ones have memory.
#pragma once

#include <cstdint>
#include <string>

#include "device/cuda/calls.hpp"

namespace spillway {

struct CudaMemoryBytes {
  std::int64_t free_bytes = 0, all_bytes = 0;
};

CudaMemoryBytes cuda_memory(CudaCalls const& calls);

class CudaAddresses {
 public:
  // Reserves addresses for `bytes` bytes or, if there are not enough, for `fewest` bytes. They have
  // no memory at first. Messages contain `name`. Throws Error(cannot_fit) if addresses are too few.
  CudaAddresses(CudaContext const& context, std::string name, std::int64_t fewest,
                std::int64_t bytes);
  ~CudaAddresses();
  CudaAddresses(CudaAddresses const&) = delete;
  CudaAddresses& operator=(CudaAddresses const&) = delete;

  // Gives memory to the first `bytes` bytes and takes it from the others, in whole granules, the
  // units in which CUDA maps memory. Bytes that keep their memory keep their values. Throws
  // Error(cannot_fit) if the device has too little memory; nothing has changed then.
  void resize(std::int64_t bytes);

  void* first() const { return reinterpret_cast<void*>(m_first); }
  std::int64_t reserved_bytes() const { return m_reserved_bytes; }

 private:
  [[noreturn]] void fail(CudaCalls const& calls, char const* what, std::int64_t bytes) const;
  CUresult reserve(std::int64_t bytes);
  bool add_granule(CudaCalls const& calls);
  void remove_granule(CudaCalls const& calls, std::int64_t offset) const;
  void allow_access(CudaCalls const& calls, std::int64_t begin) const;
  CUdeviceptr at(std::int64_t offset) const { return m_first + static_cast<CUdeviceptr>(offset); }

  CudaContext const& m_context;
  std::string m_name;
  std::int64_t m_granule_bytes = 0, m_reserved_bytes = 0;
  std::int64_t m_mapped_bytes = 0;  // how many of the reserved bytes have memory
  CUdeviceptr m_first = 0;
};

}  // namespace spillway
