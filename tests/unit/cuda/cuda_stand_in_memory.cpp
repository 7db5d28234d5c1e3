// The stand-in keeps the rules of the driver's memory and of registered memory, and the host cannot
// touch the device's.
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_memory_test {
namespace {

using CudaStandInMemory = CudaStandIn;

TEST_F(CudaStandInMemory, the_host_traps) {
  DeviceGranule const device;
  doing("item 7, gelu");
  auto const touch = [&] { *reinterpret_cast<volatile char*>(device.at(12345)) = 1; };
  EXPECT_DEATH(touch(), "touched byte 12345 of device memory while: item 7, gelu");
  doing(nullptr);
  EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGSEGV), "touched byte 12345");
}

TEST_F(CudaStandInMemory, new_memory_is_not_zero) {
  DeviceGranule const device;
  PinnedPages const host(4096);
  TestStream const stream;
  copy(host.at(), device.at(kGranule - 4096), 4096, stream);
  wait_for(stream);
  EXPECT_TRUE(all_are(host.part(0, 4096), 0xff));
}

TEST_F(CudaStandInMemory, is_out_of_memory_beyond_its_amount) {
  reset({.memory_bytes = std::int64_t{3 * kGranule}});
  auto const properties = on_device();
  CUmemGenericAllocationHandle first{}, second{};
  auto const create = SPILLWAY_DRIVER(cuMemCreate);
  std::size_t free = 0, total = 0;
  ASSERT_EQ(create(&first, 2 * kGranule, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(create(&second, 2 * kGranule, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  cudaMemGetInfo(&free, &total);
  EXPECT_EQ(free, kGranule);
  EXPECT_EQ(total, 3 * kGranule);
  EXPECT_EQ(leftovers().size(), 1u);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemRelease)(first), CUDA_SUCCESS);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemRelease)(first), CUDA_ERROR_INVALID_VALUE);
  cudaMemGetInfo(&free, &total);
  EXPECT_EQ(free, total);
}

// Walks the life of memory; whatever is out of its order is refused.
TEST_F(CudaStandInMemory, keeps_the_rules_of_mapping) {
  auto const reserve = SPILLWAY_DRIVER(cuMemAddressReserve);
  auto const map = SPILLWAY_DRIVER(cuMemMap);
  auto const unmap = SPILLWAY_DRIVER(cuMemUnmap);
  auto const allow = SPILLWAY_DRIVER(cuMemSetAccess);
  auto const free = SPILLWAY_DRIVER(cuMemAddressFree);
  auto const bad = CUDA_ERROR_INVALID_VALUE;
  auto const properties = on_device();
  CUmemAccessDesc const access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle memory = 0;
  TestStream const stream;
  EXPECT_EQ(reserve(&at, 4096, 0, 0, 0), bad);
  ASSERT_EQ(reserve(&at, 2 * kGranule, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemCreate)(&memory, 4096, &properties, 0), bad);
  ASSERT_EQ(SPILLWAY_DRIVER(cuMemCreate)(&memory, kGranule, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(map(at, kGranule, 0, memory + 1, 0), bad);
  EXPECT_EQ(map(at + 4096, kGranule, 0, memory, 0), bad);
  EXPECT_EQ(map(at, 2 * kGranule, 0, memory, 0), bad);
  EXPECT_EQ(map(at + 2 * kGranule, kGranule, 0, memory, 0), bad);
  EXPECT_EQ(allow(at, kGranule, &access, 1), bad);
  ASSERT_EQ(map(at, kGranule, 0, memory, 0), CUDA_SUCCESS);
  EXPECT_EQ(map(at, kGranule, 0, memory, 0), bad);
  auto* const byte = reinterpret_cast<void*>(at);
  EXPECT_EQ(cudaMemsetAsync(byte, 0, 8, stream), cudaErrorInvalidValue);
  ASSERT_EQ(allow(at, kGranule, &access, 1), CUDA_SUCCESS);
  EXPECT_EQ(cudaMemsetAsync(byte, 0, kGranule + 1, stream), cudaErrorInvalidValue);
  auto* const end = reinterpret_cast<void*>(at + kGranule - 4);
  EXPECT_EQ(cudaMemsetAsync(end, 0, 8, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(byte, 0, kGranule, stream), cudaSuccess);
  wait_for(stream);
  EXPECT_EQ(free(at, 2 * kGranule), bad);
  EXPECT_EQ(unmap(at, 2 * kGranule), bad);
  EXPECT_EQ(unmap(at, kGranule), CUDA_SUCCESS);
  EXPECT_EQ(cudaMemsetAsync(byte, 0, 8, stream), cudaErrorInvalidValue);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemRelease)(memory), CUDA_SUCCESS);
  EXPECT_EQ(free(at, kGranule), bad);
  EXPECT_EQ(free(at, 2 * kGranule), CUDA_SUCCESS);
}

TEST_F(CudaStandInMemory, mappings_side_by_side_are_one_range_of_bytes) {
  auto const map = SPILLWAY_DRIVER(cuMemMap);
  auto const properties = on_device();
  CUmemAccessDesc const access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr at = 0;
  CUmemGenericAllocationHandle memory[2] = {};
  ASSERT_EQ(SPILLWAY_DRIVER(cuMemAddressReserve)(&at, 2 * kGranule, 0, 0, 0), CUDA_SUCCESS);
  for (auto i : {0u, 1u}) {
    SPILLWAY_DRIVER(cuMemCreate)(&memory[i], kGranule, &properties, 0);
    ASSERT_EQ(map(at + i * kGranule, kGranule, 0, memory[i], 0), CUDA_SUCCESS);
    SPILLWAY_DRIVER(cuMemRelease)(memory[i]);  // lives on as long as it is mapped
  }
  ASSERT_EQ(SPILLWAY_DRIVER(cuMemSetAccess)(at, 2 * kGranule, &access, 1), CUDA_SUCCESS);
  PinnedPages const host(4096);
  {
    TestStream const stream;
    auto* const middle = reinterpret_cast<std::byte*>(at) + kGranule - 50;
    fill(middle, 5, 100, stream);
    copy(host.at(), middle, 100, stream);
    wait_for(stream);
  }
  EXPECT_TRUE(all_are(host.part(0, 100), 5));
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemUnmap)(at, 2 * kGranule), CUDA_SUCCESS);
  EXPECT_EQ(SPILLWAY_DRIVER(cuMemAddressFree)(at, 2 * kGranule), CUDA_SUCCESS);
  expect_no_complaints();
}

// CUDA would make it, and let a device that may reach another's memory work in it, only slower.
TEST_F(CudaStandInMemory, is_of_the_device_that_is_chosen_and_that_works_in_it) {
  reset({.laziness = Laziness::latest, .devices = 2});
  DeviceGranule const of_first;
  expect_no_complaints();
  cudaSetDevice(1);
  {
    DeviceGranule const again_of_first;
    EXPECT_TRUE(complained("memory of device 0 from a thread that has chosen device 1"));
  }
  TestStream const of_second;
  PinnedPages const host(4096);
  copy(host.at(), of_first.at(), 8, of_second);
  wait_for(of_second);
  EXPECT_TRUE(complained("copy on device 1 touches memory of another device"));
}

TEST_F(CudaStandInMemory, keeps_the_rules_of_registered_memory) {
  Pages const pages(3 * 4096);
  auto* const at = pages.data();
  EXPECT_EQ(cudaHostRegister(at + 1, 4096, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(at, 4095, 0), cudaErrorInvalidValue);
  ASSERT_EQ(cudaHostRegister(at, 2 * 4096, 0), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(at + 4096, 2 * 4096, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(at + 4096), cudaErrorHostMemoryNotRegistered);
  void* device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&device, at + 5, 0), cudaSuccess);
  EXPECT_EQ(device, at + 5);
  EXPECT_EQ(cudaHostGetDevicePointer(&device, at + 2 * 4096, 0), cudaErrorInvalidValue);
  EXPECT_EQ(leftovers().size(), 1u);
  EXPECT_EQ(cudaHostUnregister(at), cudaSuccess);
}

TEST_F(CudaStandInMemory, memory_is_not_given_back_under_work) {
  TestStream const stream;
  {
    PinnedPages const host(4096);
    fill(host.at(), 1, 8, stream);
  }
  EXPECT_TRUE(complained("registered memory is given back while work is under way"));
  {
    DeviceGranule const device;
    fill(device.at(), 1, 8, stream);
  }
  EXPECT_TRUE(complained("device memory is unmapped while work is under way"));
  reset();
  {
    DeviceGranule const device;
    fill(device.at(), 1, 8, stream);
    wait_for(stream);
  }
  expect_no_complaints();
}

TEST_F(CudaStandInMemory, what_is_left_can_be_given_back) {
  CUdeviceptr at = 0;
  cudaEvent_t event = nullptr;
  Pages const pages(4096);
  auto const properties = on_device();
  CUmemGenericAllocationHandle memory = 0;
  SPILLWAY_DRIVER(cuMemAddressReserve)(&at, kGranule, 0, 0, 0);
  SPILLWAY_DRIVER(cuMemCreate)(&memory, kGranule, &properties, 0);
  SPILLWAY_DRIVER(cuMemMap)(at, kGranule, 0, memory, 0);
  cudaHostRegister(pages.data(), 4096, 0);
  cudaEventCreateWithFlags(&event, 0);
  EXPECT_EQ(leftovers().size(), 5u);
  give_back_leftovers();
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  EXPECT_EQ(free, total);
  EXPECT_EQ(cudaHostRegister(pages.data(), 4096, 0), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(pages.data()), cudaSuccess);
}

TEST_F(CudaStandInMemory, functions_have_versions) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  cudaGetDriverEntryPointByVersion("cuMemMap", &found, 9000, 0, &status);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(found, nullptr);
  cudaGetDriverEntryPointByVersion("cuMemNap", &found, CUDART_VERSION, 0, &status);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  char const* name = nullptr;
  SPILLWAY_DRIVER(cuGetErrorName)(CUDA_ERROR_OUT_OF_MEMORY, &name);
  EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_memory_test
