// What nothing orders is found in every run, whatever came out; what is ordered never is.
#include <thread>

#include "tests/support/cuda/order.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_stand_in_order_test {
namespace {

using CudaStandInOrder = CudaStandIn;

struct Outcome {
  bool right, ordered, complained;
};

// One stream fills bytes of the device round after round, another takes them to the host.
Outcome produce_and_consume(std::uint64_t seed, bool waits) {
  reset({.seed = seed});
  DeviceGranule const device;
  PinnedPages const host(4096);
  TestStream const producer, consumer;
  TestEvent const filled, taken;
  Outcome result{true, true, false};
  for (int round = 1; round <= 3; ++round) {
    cudaStreamWaitEvent(producer, taken, 0);
    auto const write = mark_pieces("write");
    fill(device.at(), round, 256, producer);
    cudaEventRecord(filled, producer);
    if (waits) cudaStreamWaitEvent(consumer, filled, 0);
    auto const read = mark_pieces("read");
    copy(host.at(), device.at(), 256, consumer);
    cudaEventRecord(taken, consumer);
    result.ordered = result.ordered && ordered(write->end, read->begin);
    wait_for(consumer);
    result.right = result.right && all_are(host.part(0, 256), round);
  }
  result.complained = !complaints().empty();
  return result;
}

TEST_F(CudaStandInOrder, events_make_all_seeds_right) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto const [right, ordered, complained] = produce_and_consume(seed, true);
    EXPECT_TRUE(right && ordered && !complained) << "seed " << seed;
  }
}

TEST_F(CudaStandInOrder, a_missing_wait_is_wrong_in_many_seeds_and_unordered_in_all) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    auto const [right, ordered, complained] = produce_and_consume(seed, false);
    wrong += right ? 0 : 1;
    EXPECT_TRUE(!ordered && complained) << "seed " << seed;
  }
  EXPECT_GT(wrong, 60);
  EXPECT_LT(wrong, 300);
}

TEST_F(CudaStandInOrder, one_seed_is_one_run) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(produce_and_consume(seed, false).right, produce_and_consume(seed, false).right);
}

// A thread records an event again; whoever let a stream wait for it before must have told it so.
TEST_F(CudaStandInOrder, an_event_is_recorded_again_only_after_all_who_mean_its_earlier_record) {
  for (bool const tells : {true, false}) {
    SCOPED_TRACE(tells);
    reset({.laziness = Laziness::latest});
    int const recorded = 0, met = 0;
    {
      TestStream const stream, other;
      TestEvent const event;
      cudaEventRecord(event, stream);
      Order::release(&recorded, 1);
      std::thread([&] {
        Order::acquire(&recorded, 1);
        cudaStreamWaitEvent(other, event, 0);
        if (tells) Order::release(&met, 1);
      }).join();
      if (tells) Order::acquire(&met, 1);
      cudaEventRecord(event, stream);
      wait_for(other);
      wait_for(stream);
    }
    EXPECT_EQ(complained("recorded again while somebody may still mean"), !tells);
    EXPECT_EQ(complaints().empty(), tells);
  }
}

TEST_F(CudaStandInOrder, threads_meet_by_objects) {
  int const bell = 0;
  Mark first, unordered, second;
  std::thread([&] {
    first = mark_here();
    Order::release(&bell, 1);
    unordered = mark_here();
  }).join();
  auto const before = mark_here();
  Order::acquire(&bell, 1);
  second = mark_here();
  EXPECT_FALSE(ordered(first, before));
  EXPECT_TRUE(ordered(first, second));
  EXPECT_FALSE(ordered(unordered, second));
  EXPECT_FALSE(ordered(second, first));
}

// An Engine that follows another may have its counts where the other's were.
TEST_F(CudaStandInOrder, a_count_that_is_forgotten_tells_nothing_of_its_own_to_the_next_one) {
  int const bell = 0;
  Mark old, anew;
  std::thread([&] {
    for (std::uint64_t until = 1; until < 10; ++until) Order::release(&bell, until);
    old = mark_here();
    Order::release(&bell, 10);
  }).join();
  Order::forget(&bell);
  std::thread([&] {
    anew = mark_here();
    Order::release(&bell, 3);
  }).join();
  Order::acquire(&bell, 2);
  auto const now = mark_here();
  EXPECT_TRUE(ordered(anew, now));
  EXPECT_FALSE(ordered(old, now));
}

TEST_F(CudaStandInOrder, work_is_after_its_enqueue_and_before_a_successful_query) {
  PinnedPages const host(4096);
  TestStream const stream;
  TestEvent const event;
  auto const before = mark_here();
  auto const work = mark_pieces("work");
  fill(host.at(), 1, 8, stream);
  auto const after_enqueue = mark_here();
  cudaEventRecord(event, stream);
  EXPECT_TRUE(ordered(before, work->begin));
  EXPECT_FALSE(ordered(after_enqueue, work->begin));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_FALSE(ordered(work->end, mark_here()));
  while (cudaEventQuery(event) != cudaSuccess) {
  }
  EXPECT_TRUE(ordered(work->end, mark_here()));
}

TEST_F(CudaStandInOrder, work_of_one_stream_is_ordered_one_way) {
  PinnedPages const host(4096);
  TestStream const stream;
  auto const first = mark_pieces("first");
  fill(host.at(), 1, 8, stream);
  auto const second = mark_pieces("second");
  fill(host.at(), 1, 8, stream);
  EXPECT_TRUE(ordered(first->end, second->begin));
  EXPECT_FALSE(ordered(second->end, first->begin));
  wait_for(stream);
  EXPECT_TRUE(ordered(second->end, mark_here()));
}

TEST_F(CudaStandInOrder, the_host_races_with_work_on_registered_bytes) {
  PinnedPages const host(4096);
  TestStream const stream;
  host_access(host.part(0, 100), true);
  copy(host.at(200), host.at(), 100, stream);
  host_access(host.part(0, 100), false);
  host_access(host.part(100, 100), true);
  expect_no_complaints();
  host_access(host.part(99, 1), true);
  EXPECT_TRUE(complained("nothing orders 'copy', which reads, and 'the host', which writes"));
  reset({.laziness = Laziness::latest});
  fill(host.at(200), 1, 100, stream);
  host_access(host.part(299, 5), false);
  EXPECT_TRUE(complained("nothing orders 'fill', which writes, and 'the host', which reads"));
  reset({.laziness = Laziness::latest});
  fill(host.at(200), 1, 100, stream);
  wait_for(stream);
  host_access(host.part(0, 4096), true);
  expect_no_complaints();
}

TEST_F(CudaStandInOrder, a_copy_of_pageable_memory_is_work_like_other) {
  DeviceGranule const device;
  TestStream const a, b;
  std::vector<std::byte> plain(8);
  fill(device.at(100), 1, 8, b);
  auto const marks = mark_pieces("copy");
  copy(plain.data(), device.at(), 8, a);
  EXPECT_TRUE(ordered(marks->end, mark_here()));
  mark_no_more_pieces();
  expect_no_complaints();
  copy(plain.data(), device.at(104), 8, a);
  EXPECT_TRUE(complained("nothing orders 'fill', which writes, and 'copy', which reads"));
}

TEST_F(CudaStandInOrder, the_device_memory_is_watched_unless_told_otherwise) {
  for (bool const watches : {true, false}) {
    reset({.watches_device_memory = watches});
    DeviceGranule const device;
    TestStream const a, b;
    fill(device.at(), 1, 8, a);
    fill(device.at(7), 1, 8, b);
    EXPECT_EQ(complained("nothing orders 'fill'"), watches);
    wait_for(a);
    wait_for(b);
  }
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_stand_in_order_test
