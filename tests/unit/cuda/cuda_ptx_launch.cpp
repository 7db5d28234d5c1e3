// Kernels of PTX run in their streams like all other work.
#include "tests/unit/cuda/ptx_case.hpp"

namespace spillway::test::cuda::cuda_ptx_launch_test {
namespace {

using CudaPtxLaunch = CudaPtx;

TEST_F(CudaPtxLaunch, runs_between_the_copies_before_and_behind_it) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    reset({.seed = seed});
    set(x(), all(1.5f));
    EXPECT_EQ(add(y(), x(), 2), cudaSuccess);
    EXPECT_EQ(add(y(), y(), 0.25f), cudaSuccess);
    EXPECT_EQ(get(y()), all(3.75f));
    expect_no_complaints();
  }
}

TEST_F(CudaPtxLaunch, runs_as_late_as_it_may_with_the_parameters_of_its_call) {
  PinnedPages const host(4096);
  set(x(), all(1));
  float value = 2;
  unsigned count = n;
  auto *to = y(), *from = x();
  void* arguments[] = {&to, &from, &count, &value};
  EXPECT_EQ(cudaLaunchKernel(module.kernel("add"), 3, 32, arguments, 0, stream), cudaSuccess);
  value = 100;
  count = 0;
  std::memset(host.at(), 0, kBytes);
  copy(host.at(), y(), kBytes, stream);
  EXPECT_TRUE(all_are(host.part(0, kBytes), 0));
  wait_for(stream);
  EXPECT_EQ(*reinterpret_cast<float*>(host.at(kBytes - 4)), 3);
}

TEST_F(CudaPtxLaunch, is_one_of_the_stubs_of_cuda_13_as_well) {
  set(x(), all(1));
  dim3 grid, block;
  std::size_t shared_bytes = 1;
  cudaStream_t taken = nullptr;
  EXPECT_EQ(__cudaPushCallConfiguration(3, dim3(32), 0, stream), 0u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &taken), cudaSuccess);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &taken),
            cudaErrorMissingConfiguration);
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(__cudaGetKernel(&kernel, module.kernel("add")), cudaSuccess);
  float value = 2;
  unsigned count = n;
  auto *to = y(), *from = x();
  void* arguments[] = {&to, &from, &count, &value};
  EXPECT_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, taken), cudaSuccess);
  EXPECT_EQ(get(y()), all(3));
  EXPECT_EQ(calls().at("cudaLaunchKernel"), 1);
  expect_no_complaints();
}

TEST_F(CudaPtxLaunch, has_dynamic_shared_memory_within_limits) {
  auto *to = y(), *from = x();
  void* arguments[] = {&to, &from};
  auto const reverse = [&](std::size_t bytes) {
    return cudaLaunchKernel(module.kernel("reverse"), 1, n, arguments, bytes, stream);
  };
  std::vector<float> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  set(x(), values);
  EXPECT_EQ(reverse(kBytes), cudaSuccess);
  std::ranges::reverse(values);
  EXPECT_EQ(get(y()), values);
  expect_no_complaints();

  auto const* const kernel = module.kernel("reverse");
  auto const limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  EXPECT_EQ(reverse(48 * 1024), cudaSuccess);
  EXPECT_EQ(reverse(48 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT_TRUE(complained("49153 bytes of dynamic shared memory, and 49152 are allowed"));
  EXPECT_EQ(cudaFuncSetAttribute(kernel, limit, 227 * 1024 + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, limit, 227 * 1024), cudaSuccess);
  EXPECT_EQ(reverse(227 * 1024), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 227 * 1024);
  EXPECT_EQ(attributes.sharedSizeBytes, 0u);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  wait_for(stream);
}

TEST_F(CudaPtxLaunch, of_a_shape_that_no_device_has_is_refused) {
  auto const shaped = [&](dim3 grid, dim3 block) {
    return launch(module.kernel("add"), grid, block, stream, y(), x(), 0u, 1.0f);
  };
  EXPECT_EQ(shaped(1, 1024), cudaSuccess);
  EXPECT_EQ(shaped(1, 1025), cudaErrorInvalidConfiguration);
  EXPECT_EQ(shaped(1, dim3(1, 1, 65)), cudaErrorInvalidConfiguration);
  EXPECT_EQ(shaped(0, 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(shaped(dim3(1, 1 << 16), 32), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_TRUE(complained("a block of 1025 x 1 x 1 threads"));
  wait_for(stream);
}

TEST_F(CudaPtxLaunch, of_what_is_no_kernel_is_refused) {
  int const other = 0;
  cudaKernel_t kernel = nullptr;
  EXPECT_EQ(launch(&other, 1, 32, stream, 0), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(__cudaGetKernel(&kernel, &other), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(launch(module.kernel("absent"), 1, 32, stream, 0), cudaErrorInvalidPtx);
  EXPECT_EQ(launch(module.kernel("strange"), 1, 32, stream, 0), cudaErrorInvalidPtx);
  EXPECT_TRUE(complained("a kernel that was never registered"));
  EXPECT_TRUE(complained("slct.f32.f32"));
  EXPECT_EQ(launch(module.kernel("add"), 1, 32, cudaStream_t(12345), y(), x(), n, 1.0f),
            cudaErrorInvalidResourceHandle);
}

TEST_F(CudaPtxLaunch, that_goes_wrong_is_an_error_of_the_device) {
  set(x(), all(1));
  EXPECT_EQ(add(y(), x(), 2, n + 1), cudaSuccess);
  doing("another item");
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  doing("");
  EXPECT_TRUE(complained("kernel add"));
  EXPECT_EQ(complaints().size(), 1u);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(add(y(), x(), 2), cudaErrorLaunchFailure);
}

TEST_F(CudaPtxLaunch, names_the_item_whose_kernel_goes_wrong) {
  doing("item 7 (gelu)");
  add(y(), x(), 2);
  doing("");
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  EXPECT_TRUE(complained("item 7 (gelu): "));
  EXPECT_TRUE(complained("never written"));
}

TEST_F(CudaPtxLaunch, is_on_the_device_that_the_thread_has_chosen) {
  reset({.laziness = Laziness::latest, .devices = 2});
  int device = -1;
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(add(y(), x(), 2), cudaErrorInvalidResourceHandle);
  EXPECT_TRUE(complained("kernel add is launched on another device"));
  {
    TestStream const other;
    CUcontext context = nullptr;
    EXPECT_EQ(SPILLWAY_DRIVER(cuStreamGetCtx)(other, &context), CUDA_SUCCESS);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    EXPECT_EQ(driver<decltype(cuCtxPushCurrent_v2)>("cuCtxPushCurrent")(context), CUDA_SUCCESS);
    EXPECT_EQ(SPILLWAY_DRIVER(cuCtxGetDevice)(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, 1);
    EXPECT_EQ(add(y(), x(), 2, n, other), cudaSuccess);  // in memory of device 0
    EXPECT_EQ(cudaStreamSynchronize(other), cudaErrorLaunchFailure);
    EXPECT_TRUE(complained("no memory holds"));
  }
  EXPECT_EQ(cudaSetDevice(0), cudaErrorLaunchFailure);
  reset();
}

TEST_F(CudaPtxLaunch, fails_by_name_and_number) {
  using Kind = PlannedFault::Kind;
  set(x(), all(1));
  fill(y(), 0, kBytes, stream);
  plan_fault({.call = "cudaLaunchKernel", .n = 0, .kind = Kind::dropped});
  plan_fault({.call = "cudaLaunchKernel", .n = 1, .error = cudaErrorLaunchOutOfResources});
  EXPECT_EQ(add(y(), x(), 2), cudaSuccess);
  EXPECT_EQ(add(y(), x(), 2), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(get(y()), all(0));
  plan_fault({.call = "cudaLaunchKernel", .n = 2, .kind = Kind::stuck});
  EXPECT_EQ(add(y(), x(), 2), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchTimeout);
  EXPECT_TRUE(complained("deadlock"));
  reset();
}

TEST_F(CudaPtxLaunch, whose_kernel_fails_is_an_error_of_later_calls) {
  reset({.laziness = Laziness::latest});
  plan_fault({.call = "cudaLaunchKernel", .kind = PlannedFault::Kind::faulty});
  EXPECT_EQ(add(y(), x(), 2), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorIllegalAddress);
  reset();
}

TEST_F(CudaPtxLaunch, on_the_default_stream_is_between_the_work_of_blocking_streams) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    reset({.seed = seed});
    cudaStream_t one = nullptr, other = nullptr;
    EXPECT_EQ(cudaStreamCreate(&one), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&other), cudaSuccess);
    fill(x(), 0, kBytes, one);
    EXPECT_EQ(launch(module.kernel("add"), 3, 32, nullptr, y(), x(), n, 2.0f), cudaSuccess);
    EXPECT_EQ(launch(module.kernel("add"), 3, 32, other, x(), y(), n, 2.0f), cudaSuccess);
    std::vector<float> result(n);
    EXPECT_EQ(cudaMemcpy(result.data(), x(), kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(result, all(4));
    for (auto const each : {one, other}) {
      wait_for(each);
      EXPECT_EQ(cudaStreamDestroy(each), cudaSuccess);
    }
    expect_no_complaints();
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_ptx_launch_test
