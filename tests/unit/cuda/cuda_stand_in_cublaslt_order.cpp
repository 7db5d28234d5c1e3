// Products of the stand-in's cublasLt in their streams: late, unordered, dropped and failed.

#include "runtime/locked_allocator.hpp"
#include "tests/unit/cuda/cublaslt_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_cublaslt_order_test {
namespace {

using Kind = PlannedFault::Kind;

// Square matrices of fp32 with one value in all elements: a product has 16 a b in all of its own.
class CudaStandInCublasLtOrder : public CudaStandIn {
 protected:
  static constexpr std::size_t kBytes = 16 * 16 * sizeof(float);

  LtCall call(void const* a, void const* b, void* d) const {
    return {.a = a, .b = b, .c = d, .d = d};
  }
  cublasStatus_t run(LtCall const& with, cudaStream_t on) const {
    return multiply(handle, lt, algo, with, on);
  }
  static void set(void* to, float value, cudaStream_t on) {
    std::vector<float> const values(16 * 16, value);
    copy(to, values.data(), kBytes, on);
  }
  static float get(void const* from, cudaStream_t on) {
    std::vector<float> values(16 * 16);
    copy(values.data(), from, kBytes, on);
    return values.front();
  }

  LtCase lt{{}, {CUDA_R_32F, 16, 16, 16}, {CUDA_R_32F, 16, 16, 16}, {CUDA_R_32F, 16, 16, 16}};
  TestLtHandle handle;
  cublasLtMatmulAlgo_t algo = lt.algorithms(handle, 0).front().algo;
};

TEST_F(CudaStandInCublasLtOrder, results_are_invalid_until_the_end) {
  DeviceGranule const device;
  PinnedPages const host(4096);
  TestStream const stream;
  TestEvent const event;
  auto with = call(device.at(), device.at(4096), host.at());
  with.workspace = device.at(8192);
  with.workspace_bytes = 256;
  set(device.at(), 1, stream);
  set(device.at(4096), 2, stream);
  fill(device.at(8192), 0, 512, stream);
  wait_for(stream);
  EXPECT_EQ(run(with, stream), CUBLAS_STATUS_SUCCESS);
  with.alpha = 100;  // the call has read it
  EXPECT_TRUE(all_are(host.part(0, kBytes), 0)) << "it has not begun";
  cudaEventRecord(event, stream);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_TRUE(all_are(host.part(0, kBytes), 0xff));
  EXPECT_TRUE(all_are(host.part(kBytes, 16), 0));
  wait_for(stream);
  EXPECT_EQ(*reinterpret_cast<float const*>(host.at()), 32);
  std::vector<std::byte> workspace(512);
  copy(workspace.data(), device.at(8192), 512, stream);
  EXPECT_TRUE(all_are(std::span(workspace).first(256), 0xff));
  EXPECT_TRUE(all_are(std::span(workspace).last(256), 0));
  expect_no_complaints();
}

struct Outcome {
  float value;
  bool complained;
};

TEST_F(CudaStandInCublasLtOrder, a_missing_wait_for_an_operand_is_found_whatever_the_seed) {
  DeviceGranule const device;
  auto const produce_and_consume = [&](std::uint64_t seed, bool waits) {
    reset({.seed = seed});
    TestStream const producer, consumer;
    TestEvent const ready;
    auto *const a = device.at(), *const b = device.at(4096), *const c = device.at(8192);
    set(a, 1, producer);
    set(b, 0, producer);
    wait_for(producer);
    EXPECT_EQ(run(call(a, a, b), producer), CUBLAS_STATUS_SUCCESS);
    cudaEventRecord(ready, producer);
    if (waits) cudaStreamWaitEvent(consumer, ready, 0);
    EXPECT_EQ(run(call(a, b, c), consumer), CUBLAS_STATUS_SUCCESS);
    auto const value = get(c, consumer);
    wait_for(producer);
    return Outcome{value, complained("nothing orders 'cublasLtMatmul', which writes, and "
                                     "'cublasLtMatmul', which reads")};
  };
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto const good = produce_and_consume(seed, true);
    EXPECT_TRUE(good.value == 256 && !good.complained) << "seed " << seed;
    expect_no_complaints();
    auto const bad = produce_and_consume(seed, false);
    EXPECT_TRUE(bad.complained) << "seed " << seed;
    wrong += bad.value == 256 ? 0 : 1;
  }
  EXPECT_GT(wrong, 10);
  EXPECT_LT(wrong, 100);
}

TEST_F(CudaStandInCublasLtOrder, two_streams_do_not_share_a_workspace) {
  DeviceGranule const device;
  auto const share = [&](std::uint64_t seed, bool waits) {
    reset({.seed = seed});
    TestStream const one, other;
    TestEvent const done;
    set(device.at(), 1, one);
    wait_for(one);
    auto first = call(device.at(), device.at(), device.at(4096));
    auto second = call(device.at(), device.at(), device.at(8192));
    first.workspace = device.at(16384);
    second.workspace = device.at(16384 + 256);
    first.workspace_bytes = second.workspace_bytes = 512;
    EXPECT_EQ(run(first, one), CUBLAS_STATUS_SUCCESS);
    cudaEventRecord(done, one);
    if (waits) cudaStreamWaitEvent(other, done, 0);
    EXPECT_EQ(run(second, other), CUBLAS_STATUS_SUCCESS);
    wait_for(one);
    wait_for(other);
    return !complaints().empty();
  };
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_FALSE(share(seed, true)) << "seed " << seed;
    EXPECT_TRUE(share(seed, false)) << "seed " << seed;
  }
}

TEST_F(CudaStandInCublasLtOrder, faults_hit_the_call_that_they_name) {
  DeviceGranule const device;
  TestStream const stream;
  set(device.at(), 1, stream);
  set(device.at(4096), 7, stream);
  plan_fault({"cublasLtMatmul", 0, Kind::dropped});
  plan_fault({"cublasLtMatmul", 1, Kind::failed});
  auto const layouts = calls().at("cublasLtMatrixLayoutCreate");
  plan_fault({"cublasLtMatrixLayoutCreate", layouts, Kind::out_of_memory});
  auto const with = call(device.at(), device.at(), device.at(4096));
  EXPECT_EQ(run(with, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(get(device.at(4096), stream), 7);
  EXPECT_EQ(run(with, stream), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(get(device.at(4096), stream), 7);
  EXPECT_EQ(run(with, stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(get(device.at(4096), stream), 16);
  EXPECT_EQ(calls().at("cublasLtMatmul"), 3);
  cublasLtMatrixLayout_t none = nullptr;
  EXPECT_EQ(cublasLtMatrixLayoutCreate(&none, CUDA_R_32F, 1, 1, 1), CUBLAS_STATUS_ALLOC_FAILED);
  EXPECT_EQ(none, nullptr);
  expect_no_complaints();
}

TEST_F(CudaStandInCublasLtOrder, of_a_lost_device_all_can_be_given_back) {
  for (auto const kind : {Kind::sticky, Kind::lost_device}) {
    {
      DeviceGranule const device;
      TestStream const stream;
      TestLtHandle const own;
      TestLayout const layout(CUDA_R_32F, 1, 1, 1);
      auto const with = call(device.at(), device.at(), device.at(4096));
      plan_fault({"cublasLtMatmul", 0, kind});
      EXPECT_EQ(run(with, stream), CUBLAS_STATUS_EXECUTION_FAILED);
      EXPECT_EQ(run(with, stream), CUBLAS_STATUS_EXECUTION_FAILED);
      EXPECT_NE(cudaStreamSynchronize(stream), cudaSuccess);
    }
    reset({.laziness = Laziness::latest});
    EXPECT_EQ(leftovers().size(), 5u) << "the handle and the objects of this test";
  }
}

TEST_F(CudaStandInCublasLtOrder, a_stuck_product_is_waited_for_in_vain) {
  DeviceGranule const device;
  TestStream const stream;
  plan_fault({"cublasLtMatmul", 0, Kind::stuck});
  EXPECT_EQ(run(call(device.at(), device.at(), device.at(4096)), stream), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchTimeout);
  EXPECT_TRUE(complained("deadlock"));
}

// A plan is fixed before the allocator is locked, and products are then begun.
TEST_F(CudaStandInCublasLtOrder, nothing_trips_a_locked_allocator) {
  DeviceGranule const device;
  TestStream const stream;
  auto const with = call(device.at(), device.at(), device.at(4096));
  AllocatorLock const lock(true);
  for (int i = 0; i < 3; ++i) {
    run(with, stream);
    cudaStreamSynchronize(stream);
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_cublaslt_order_test
