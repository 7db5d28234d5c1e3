// Streams and events of the stand-in mean what CUDA's mean, however soon or late it works.
#include <set>
#include <thread>

#include "tests/support/cuda/order.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_streams_test {
namespace {

using CudaStandInStreams = CudaStandIn;

TEST_F(CudaStandInStreams, latest_does_nothing_until_asked) {
  PinnedPages const host(4096);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    reset({.seed = seed, .laziness = Laziness::latest});
    std::memset(host.at(), 0, 4096);
    TestStream const stream;
    fill(host.at(), 7, 4096, stream);
    EXPECT_TRUE(all_are(host.part(0, 4096), 0));
    wait_for(stream);
    EXPECT_TRUE(all_are(host.part(0, 4096), 7));
  }
  expect_no_complaints();
}

TEST_F(CudaStandInStreams, eager_does_all_at_once) {
  reset({.laziness = Laziness::eager});
  PinnedPages const host(4096);
  TestStream const stream, other;
  TestEvent const event;
  fill(host.at(), 7, 100, stream);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  fill(host.at(), 8, 50, other);
  EXPECT_TRUE(all_are(host.part(0, 50), 8));
  EXPECT_TRUE(all_are(host.part(50, 50), 7));
}

// A query hands control over: asking often enough brings the end, and no earlier than it is there.
TEST_F(CudaStandInStreams, queries_make_progress) {
  PinnedPages const host(4096);
  TestStream const stream;
  TestEvent const event;
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess) << "was never recorded";
  fill(host.at(), 7, 100, stream);
  cudaEventRecord(event, stream);
  int queries = 1;
  while (cudaEventQuery(event) == cudaErrorNotReady) ++queries;
  EXPECT_EQ(queries, 5) << "begin, two halves, end, record";
  EXPECT_TRUE(all_are(host.part(0, 100), 7));
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
}

// The sight of a destination in all seeds: as before, invalid, half valid, valid.
TEST_F(CudaStandInStreams, destinations_are_invalid_while_work_is_under_way) {
  PinnedPages const host(4096);
  std::set<std::pair<int, int>> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::memset(host.at(), 1, 100);
    std::memset(host.at(1000), 2, 100);
    reset({.seed = seed});
    TestStream const stream;
    copy(host.at(), host.at(1000), 100, stream);
    seen.emplace(std::to_integer<int>(*host.at()), std::to_integer<int>(*host.at(99)));
  }
  EXPECT_EQ(seen, (std::set<std::pair<int, int>>{{1, 1}, {255, 255}, {2, 255}, {2, 2}}));
}

TEST_F(CudaStandInStreams, sources_are_read_late) {
  PinnedPages const host(4096);
  DeviceGranule const device;
  TestStream const stream;
  copy(device.at(), host.at(), 100, stream);
  std::memset(host.at(), 9, 100);
  copy(host.at(200), device.at(), 100, stream);
  wait_for(stream);
  EXPECT_TRUE(all_are(host.part(200, 100), 9));
}

// A wait means the record that was there when it was called, not a later one of the same event.
TEST_F(CudaStandInStreams, a_wait_captures_the_latest_record) {
  PinnedPages const host(4096);
  TestStream const a, b;
  TestEvent const event;
  EXPECT_EQ(cudaStreamWaitEvent(b, event, 0), cudaSuccess) << "waits for nothing";
  fill(host.at(), 1, 8, a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  copy(host.at(100), host.at(), 8, b);
  fill(host.at(50), 1, 8, a);
  cudaEventRecord(event, a);
  wait_for(b);
  EXPECT_TRUE(all_are(host.part(100, 8), 1));
  EXPECT_TRUE(all_are(host.part(50, 8), 0)) << "nobody has asked for the second record";
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  wait_for(a);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  expect_no_complaints();
}

TEST_F(CudaStandInStreams, copies_async_need_registered_memory) {
  PinnedPages const host(8192);
  DeviceGranule const device;
  TestStream const stream;
  auto const h2d = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpyAsync(device.at(), host.at(8000), 200, h2d, stream), cudaErrorInvalidValue);
  EXPECT_TRUE(complained("not all registered"));
  auto const* const outside = device.at(kGranule - 100);
  EXPECT_EQ(cudaMemcpyAsync(host.at(), outside, 101, cudaMemcpyDefault, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(host.at(), device.at(), 8, h2d, stream),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(host.at(), host.at(4), 8, cudaMemcpyDefault, stream),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device.at(), host.at(), 8, h2d, nullptr),
            cudaErrorInvalidResourceHandle);
}

TEST_F(CudaStandInStreams, pageable_memory_is_read_at_once_and_copied_in_order) {
  DeviceGranule const device;
  TestStream const stream;
  std::vector<std::byte> from(100, std::byte{3}), to(100);
  fill(device.at(), 1, 100, stream);
  copy(device.at(), from.data(), 50, stream);
  std::ranges::fill(from, std::byte{4});
  TestEvent const event;
  cudaEventRecord(event, stream);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady) << "it is read, but not there yet";
  copy(to.data(), device.at(), 100, stream);
  EXPECT_TRUE(all_are(std::span(to).first(50), 3));
  EXPECT_TRUE(all_are(std::span(to).last(50), 1));
  expect_no_complaints();
}

TEST_F(CudaStandInStreams, a_deadlock_is_reported) {
  PinnedPages const host(4096);
  TestEvent const event;
  plan_fault({.call = "cudaMemsetAsync", .kind = PlannedFault::Kind::stuck});
  TestStream const a, b;
  fill(host.at(), 1, 8, a);
  cudaEventRecord(event, a);
  cudaStreamWaitEvent(b, event, 0);
  copy(host.at(100), host.at(), 8, b);
  EXPECT_EQ(cudaStreamSynchronize(b), cudaErrorLaunchTimeout);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorLaunchTimeout);
  EXPECT_TRUE(complained("deadlock"));
  reset();
}

TEST_F(CudaStandInStreams, only_timed_events_have_times) {
  TestStream const stream;
  TestEvent const first(cudaEventDefault), last(cudaEventDefault), untimed;
  float milliseconds = -1;
  for (auto const& event : {&first, &last, &untimed}) cudaEventRecord(*event, stream);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaErrorNotReady);
  wait_for(stream);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, last), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, first, untimed), cudaErrorInvalidResourceHandle);
}

TEST_F(CudaStandInStreams, destroyed_handles_are_known) {
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  cudaEventCreateWithFlags(&event, 0);
  cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0);
  EXPECT_EQ(leftovers().size(), 2u);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
}

// Work of several threads goes on while one of them waits.
TEST_F(CudaStandInStreams, threads_may_call_at_once) {
  PinnedPages const host(4096);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    reset({.seed = seed});
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, at = i * 1024] {
        TestStream const stream;
        TestEvent const event;
        for (int round = 1; round <= 50; ++round) {
          fill(host.at(at), round, 512, stream);
          copy(host.at(at + 512), host.at(at), 512, stream);
          cudaEventRecord(event, stream);
          while (cudaEventQuery(event) == cudaErrorNotReady) {
          }
          host_access(host.part(at, 1024), false);
          EXPECT_TRUE(all_are(host.part(at, 1024), round));
        }
      });
    }
    for (auto& thread : threads) thread.join();
    expect_no_complaints();
  }
}

TEST_F(CudaStandInStreams, destroying_a_stream_ends_its_work) {
  PinnedPages const host(4096);
  {
    TestStream const stream;
    fill(host.at(), 6, 10, stream);
  }
  EXPECT_TRUE(all_are(host.part(0, 10), 6));
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_streams_test
