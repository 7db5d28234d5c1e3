// What kernels may touch, and what is known of its bytes.
#include "tests/support/cuda/order.hpp"
#include "tests/unit/cuda/ptx_case.hpp"

namespace spillway::test::cuda::cuda_ptx_memory_test {
namespace {

class CudaPtxMemory : public CudaPtx {
 protected:
  // Whether a kernel may read n floats there.
  bool are_known(float const* from) {
    add(x(), from, 1);
    auto const result = cudaStreamSynchronize(stream);
    EXPECT_EQ(result == cudaSuccess, complaints().empty());
    if (result != cudaSuccess) reset({.laziness = Laziness::latest});
    return result == cudaSuccess;
  }
};

TEST_F(CudaPtxMemory, bytes_are_unknown_until_something_known_is_written) {
  EXPECT_FALSE(are_known(y()));
  fill(y(), 0, kBytes, stream);
  EXPECT_TRUE(are_known(y()));
  EXPECT_FALSE(are_known(y() + 1));
  set(y() + n, {2});
  EXPECT_TRUE(are_known(y() + 1));
}

TEST_F(CudaPtxMemory, copies_carry_on_what_is_known) {
  auto* const other = y() + 4 * n;
  fill(y(), 0, kBytes, stream);
  copy(other, y(), kBytes, stream);
  EXPECT_TRUE(are_known(other));
  copy(other, y() + 1, kBytes, stream);
  EXPECT_FALSE(are_known(other));
  EXPECT_TRUE(are_known(y()));
}

TEST_F(CudaPtxMemory, main_memory_keeps_what_is_unknown_until_the_host_writes) {
  PinnedPages const pinned(4096);
  auto* const z = reinterpret_cast<float*>(pinned.at(512));
  std::fill_n(z, 2 * n, 1.0f);
  EXPECT_TRUE(are_known(z));
  copy(z, y(), kBytes, stream);
  EXPECT_FALSE(are_known(z));
  EXPECT_TRUE(are_known(z + n));
  copy(y() + n, z, kBytes, stream);
  EXPECT_FALSE(are_known(y() + n));
  std::fill_n(z, n - 1, 2.0f);
  EXPECT_FALSE(are_known(z));
  z[n - 1] = 3;
  EXPECT_TRUE(are_known(z));
  copy(y() + n, z, kBytes, stream);
  EXPECT_TRUE(are_known(y() + n));
}

TEST_F(CudaPtxMemory, what_the_host_says_it_writes_is_known_whatever_it_is) {
  PinnedPages const pinned(4096);
  auto* const z = reinterpret_cast<float*>(pinned.at(512));
  copy(z, y(), kBytes, stream);
  EXPECT_FALSE(are_known(z));
  host_access(pinned.part(512, kBytes), true);
  EXPECT_TRUE(are_known(z));
}

TEST_F(CudaPtxMemory, what_kernels_write_is_known_afterwards) {
  set(x(), all(1));
  EXPECT_EQ(add(y(), x(), 2), cudaSuccess);
  EXPECT_TRUE(are_known(y()));
}

TEST_F(CudaPtxMemory, all_memory_of_the_device_may_be_touched_and_no_other) {
  std::vector<float> plain(n);
  EXPECT_FALSE(are_known(plain.data()));
  PinnedPages const pinned(4096);
  EXPECT_TRUE(are_known(reinterpret_cast<float*>(pinned.at())));
  EXPECT_FALSE(are_known(reinterpret_cast<float*>(pinned.at(4096 - kBytes + 4))));
  EXPECT_FALSE(are_known(reinterpret_cast<float*>(device.at(kGranule - kBytes + 4))));
}

// A backend maps granule after granule; together they are one stretch.
TEST_F(CudaPtxMemory, reaches_from_one_mapping_into_the_next) {
  auto const properties = on_device();
  CUmemAccessDesc const access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle handles[2] = {};
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemAddressReserve)(&at, 2 * kGranule, 0, 0, 0), CUDA_SUCCESS);
  for (auto const i : {0, 1}) {
    auto const first = at + static_cast<unsigned>(i) * kGranule;
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemCreate)(&handles[i], kGranule, &properties, 0), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemMap)(first, kGranule, 0, handles[i], 0), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuMemSetAccess)(first, kGranule, &access, 1), CUDA_SUCCESS);
  }
  auto* const w = reinterpret_cast<float*>(at + kGranule - 8);
  fill(w, 0, kBytes, stream);
  EXPECT_TRUE(are_known(w));
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemUnmap)(at, 2 * kGranule), CUDA_SUCCESS);
  for (auto const handle : handles) EXPECT_EQ(SPILLWAY_DRIVER(cuMemRelease)(handle), CUDA_SUCCESS);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemAddressFree)(at, 2 * kGranule), CUDA_SUCCESS);
}

TEST_F(CudaPtxMemory, cuda_malloc_gives_as_many_bytes_as_it_was_asked_for) {
  void *given = nullptr, *nothing = &given;
  EXPECT_EQ(cudaMalloc(&nothing, 0), cudaSuccess);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(cudaFree(nothing), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&given, kBytes), cudaSuccess);
  auto* const z = static_cast<float*>(given);
  EXPECT_FALSE(are_known(z));
  EXPECT_EQ(cudaMemset(z, 0, kBytes), cudaSuccess);
  EXPECT_TRUE(are_known(z));
  EXPECT_FALSE(are_known(z + 1));
  EXPECT_EQ(cudaMemset(z, 0, kBytes + 1), cudaErrorInvalidValue);
  EXPECT_EQ(leftovers().size(),
            7u);  // the fixture's four, the allocation, its addresses and memory
  EXPECT_EQ(cudaFree(z + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(z), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(z), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&given, std::size_t{1} << 31), cudaErrorMemoryAllocation);
}

TEST_F(CudaPtxMemory, host_and_device_reach_pinned_and_managed_memory) {
  void *pinned = nullptr, *managed = nullptr;
  EXPECT_EQ(cudaHostAlloc(&pinned, kBytes, cudaHostAllocDefault), cudaSuccess);
  EXPECT_EQ(cudaMallocManaged(&managed, kBytes), cudaSuccess);
  std::ranges::fill_n(static_cast<float*>(managed), n, 4.0f);
  EXPECT_EQ(add(static_cast<float*>(pinned), static_cast<float*>(managed), 1), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(y(), managed, kBytes, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  EXPECT_EQ(cudaMemcpyAsync(y(), managed, kBytes, cudaMemcpyHostToDevice, stream), cudaSuccess);
  wait_for(stream);
  EXPECT_EQ(static_cast<float*>(pinned)[n - 1], 5);
  EXPECT_FALSE(are_known(static_cast<float*>(pinned) + 1));
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
}

TEST_F(CudaPtxMemory, pointers_tell_of_what_kind_they_are) {
  void *pinned = nullptr, *managed = nullptr, *given = nullptr;
  cudaMallocHost(&pinned, 1);
  cudaMallocManaged(&managed, 1);
  cudaMalloc(&given, 1);
  int const plain = 0;
  auto const type = [](void const* at) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, at), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(type(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type(given), cudaMemoryTypeDevice);
  EXPECT_EQ(type(x()), cudaMemoryTypeDevice);
  EXPECT_EQ(type(&plain), cudaMemoryTypeUnregistered);
  cudaFreeHost(pinned);
  cudaFree(managed);
  cudaFree(given);
}

TEST_F(CudaPtxMemory, memory_is_freed_behind_the_kernels_that_need_it) {
  void* given = nullptr;
  cudaMalloc(&given, kBytes);
  auto* const z = static_cast<float*>(given);
  set(x(), all(1));
  add(z, x(), 1);
  add(y(), z, 1);
  EXPECT_EQ(cudaFree(z), cudaSuccess);
  EXPECT_EQ(get(y()), all(3));
  expect_no_complaints();
}

TEST_F(CudaPtxMemory, variables_are_copied_by_the_hosts_name_for_them) {
  auto const* const factor = module.variable("factor", 4);
  auto const* const launches = module.variable("launches", 4);
  auto const* const unused = module.variable("unused", 32);
  float value = 2.5f;
  unsigned count = 7;
  EXPECT_EQ(cudaMemcpyToSymbol(factor, &value, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbolAsync(launches, &count, 4, 0, cudaMemcpyHostToDevice, stream),
            cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(unused, all(1).data(), 32), cudaSuccess);
  EXPECT_EQ(launch(module.kernel("count"), 1, 1, stream, x()), cudaSuccess);
  wait_for(stream);
  EXPECT_EQ(cudaMemcpyFromSymbol(&count, launches, 4), cudaSuccess);
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(cudaMemcpy(&value, x(), 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(value, 2.5f);
  void* at = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&at, launches), cudaSuccess);
  EXPECT_EQ(cudaMemset(at, 0, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&count, launches, 4), cudaSuccess);
  EXPECT_EQ(count, 0u);
  expect_no_complaints();
  EXPECT_EQ(cudaMemcpyToSymbol(factor, &value, 4, 1), cudaErrorInvalidValue);
  EXPECT_TRUE(complained("more bytes than variable factor has"));
  EXPECT_EQ(cudaMemcpyToSymbol(&value, &count, 4), cudaErrorInvalidSymbol);
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_ptx_memory_test
