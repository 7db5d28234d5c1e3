// Planned faults hit the call that they name, and no other.
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_faults_test {
namespace {

using CudaStandInFaults = CudaStandIn;
using Kind = PlannedFault::Kind;

cudaError_t make_and_end_an_event() {
  cudaEvent_t event = nullptr;
  auto const error = cudaEventCreateWithFlags(&event, 0);
  if (event != nullptr) cudaEventDestroy(event);
  return error;
}

TEST_F(CudaStandInFaults, hit_their_call_once) {
  plan_fault({"cudaEventCreateWithFlags", 1, Kind::failed, cudaErrorUnknown});
  plan_fault({"cudaEventCreateWithFlags", 2, Kind::out_of_memory});
  EXPECT_EQ(make_and_end_an_event(), cudaSuccess);
  EXPECT_EQ(make_and_end_an_event(), cudaErrorUnknown);
  EXPECT_EQ(make_and_end_an_event(), cudaErrorMemoryAllocation);
  EXPECT_EQ(make_and_end_an_event(), cudaSuccess);
  EXPECT_EQ(calls().at("cudaEventCreateWithFlags"), 4);
  EXPECT_EQ(calls().at("cudaEventDestroy"), 2);
}

TEST_F(CudaStandInFaults, a_dropped_call_says_that_all_is_well) {
  PinnedPages const host(4096);
  TestStream const stream;
  plan_fault({"cudaMemsetAsync", 1, Kind::dropped});
  for (std::size_t const at : {0u, 8u, 16u}) fill(host.at(at), 1, 8, stream);
  wait_for(stream);
  EXPECT_TRUE(all_are(host.part(0, 8), 1));
  EXPECT_TRUE(all_are(host.part(8, 8), 0));
  EXPECT_TRUE(all_are(host.part(16, 8), 1));
}

TEST_F(CudaStandInFaults, a_sticky_error_stays_and_all_can_be_given_back) {
  {
    DeviceGranule const device;
    PinnedPages const host(4096);
    TestStream const stream;
    fill(host.at(), 1, 8, stream);
    plan_fault({"cudaMemsetAsync", 1, Kind::sticky, cudaErrorIllegalAddress});
    EXPECT_EQ(cudaMemsetAsync(host.at(), 2, 8, stream), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_TRUE(all_are(host.part(0, 8), 0)) << "work has ended with the device";
  }
  expect_no_complaints();
  EXPECT_EQ(leftovers(), std::vector<std::string>{});
  reset();
  EXPECT_EQ(make_and_end_an_event(), cudaSuccess);
}

TEST_F(CudaStandInFaults, a_lost_device_fails_the_driver_too) {
  plan_fault({"cuMemCreate", 0, Kind::lost_device});
  auto const properties = on_device();
  CUmemGenericAllocationHandle memory = 0;
  auto const create = SPILLWAY_DRIVER(cuMemCreate);
  EXPECT_EQ(create(&memory, kGranule, &properties, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
  cudaGetLastError();
  reset();
  cudaGetLastError();
}

TEST_F(CudaStandInFaults, the_last_error_is_told_once) {
  cudaGetLastError();
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaStandInFaults, errors_and_devices_have_names) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  cudaDeviceProp properties;
  int count = 0, major = 0;
  char bus[32] = {};
  reset({.memory_bytes = 123, .devices = 2});
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetPCIBusId(bus, sizeof bus, 1), cudaSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(properties.totalGlobalMem, 123u);
  EXPECT_EQ(major, properties.major);
  EXPECT_STREQ(bus, "0000:02:00.0");
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_faults_test
