// What tests of the stand-in for CUDA's runtime share: handles that end, and memory of both kinds.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/pages.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test::cuda {

constexpr std::size_t kGranule = std::size_t{2} << 20;

// Finds a function of the driver; its type is the header's.
template <class Function>
Function* driver(char const* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &found, CUDART_VERSION, 0, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  return reinterpret_cast<Function*>(found);
}
#define SPILLWAY_DRIVER(name) driver<decltype(name)>(#name)

inline CUmemAllocationProp on_device(int device = 0) {
  CUmemAllocationProp result{};
  result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  return result;
}

// One granule of device memory that can be used.
class DeviceGranule {
 public:
  DeviceGranule() {
    auto const properties = on_device();
    CUmemAccessDesc const access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemAddressReserve)(&m_at, kGranule, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemCreate)(&m_handle, kGranule, &properties, 0), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemMap)(m_at, kGranule, 0, m_handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemSetAccess)(m_at, kGranule, &access, 1), CUDA_SUCCESS);
  }
  DeviceGranule(DeviceGranule const&) = delete;
  DeviceGranule& operator=(DeviceGranule const&) = delete;
  ~DeviceGranule() {
    m_unmap(m_at, kGranule);
    m_release(m_handle);
    m_free(m_at, kGranule);
  }
  std::byte* at(std::size_t byte = 0) const { return reinterpret_cast<std::byte*>(m_at) + byte; }

 private:
  // Found in time: a lost device finds none.
  decltype(cuMemUnmap)* m_unmap = SPILLWAY_DRIVER(cuMemUnmap);
  decltype(cuMemRelease)* m_release = SPILLWAY_DRIVER(cuMemRelease);
  decltype(cuMemAddressFree)* m_free = SPILLWAY_DRIVER(cuMemAddressFree);
  CUdeviceptr m_at = 0;
  CUmemGenericAllocationHandle m_handle = 0;
};

class PinnedPages {
 public:
  explicit PinnedPages(std::size_t bytes) : m_pages(bytes) {
    EXPECT_EQ(cudaHostRegister(m_pages.data(), bytes, cudaHostRegisterDefault), cudaSuccess);
  }
  PinnedPages(PinnedPages const&) = delete;
  PinnedPages& operator=(PinnedPages const&) = delete;
  ~PinnedPages() { cudaHostUnregister(m_pages.data()); }
  std::byte* at(std::size_t byte = 0) const { return m_pages.data() + byte; }
  std::span<std::byte> part(std::size_t first, std::size_t bytes) const {
    return m_pages.all().subspan(first, bytes);
  }

 private:
  Pages m_pages;
};

class TestStream {
 public:
  TestStream() {
    EXPECT_EQ(cudaStreamCreateWithPriority(&m_stream, cudaStreamNonBlocking, 0), cudaSuccess);
  }
  TestStream(TestStream const&) = delete;
  TestStream& operator=(TestStream const&) = delete;
  ~TestStream() { cudaStreamDestroy(m_stream); }
  operator cudaStream_t() const { return m_stream; }

 private:
  cudaStream_t m_stream = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = cudaEventDisableTiming) {
    EXPECT_EQ(cudaEventCreateWithFlags(&m_event, flags), cudaSuccess);
  }
  TestEvent(TestEvent const&) = delete;
  TestEvent& operator=(TestEvent const&) = delete;
  ~TestEvent() { cudaEventDestroy(m_event); }
  operator cudaEvent_t() const { return m_event; }

 private:
  cudaEvent_t m_event = nullptr;
};

inline void copy(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
  EXPECT_EQ(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), cudaSuccess);
}
inline void fill(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  EXPECT_EQ(cudaMemsetAsync(to, value, bytes, stream), cudaSuccess);
}
inline void wait_for(cudaStream_t stream) {
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
}
inline bool all_are(std::span<std::byte const> bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return b == std::byte(value); });
}
inline bool complained(std::string_view words) {
  return std::ranges::any_of(complaints(), [&](auto const& c) { return c.find(words) != c.npos; });
}

// What a test leaves behind, or does wrong without saying so, fails it.
class CudaStandIn : public ::testing::Test {
 protected:
  CudaStandIn() { reset({.laziness = Laziness::latest}); }
  ~CudaStandIn() override { EXPECT_EQ(leftovers(), std::vector<std::string>{}); }
};
inline void expect_no_complaints() {
  EXPECT_EQ(complaints(), std::vector<std::string>{});
}

}  // namespace spillway::test::cuda
