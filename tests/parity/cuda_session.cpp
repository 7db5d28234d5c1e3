#include "tests/parity/cuda_session.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/pages.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/support/cuda/checked_device.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/settings.hpp"

namespace spillway::test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
using Told = std::vector<std::string>;
using Fault = cuda::PlannedFault;

template <class Use>
std::string failure_of(Use const& use) {
  try {
    use();
  } catch (Error const& error) {
    return fmt::format("{}: {}", static_cast<int>(error.status()), error.what());
  }
  return "no failure";
}

void fail_next(char const* call, cudaError_t error) {
  cuda::plan_fault({call, cuda::calls()[call], Fault::Kind::failed, error});
}

bool all_are(HostBytes bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return b == std::byte(value); });
}

std::string description(Device const& device) {
  auto const is = device.properties();
  return fmt::format("{} {}, {}, {}, {} of {} free, {} units, node {}", is.name, is.id, is.target,
                     is.software, is.free_bytes, is.memory_bytes, is.compute_units, is.numa_node);
}

// What is not pinned goes both ways, new memory is zero, and old memory keeps its values.
void expect_memory(Device& device) {
  auto const memory = device.reserve("memory", 3 * kMiB, 9 * kMiB);
  std::vector<std::byte> bytes(static_cast<std::size_t>(kMiB), std::byte{1});
  device.copy(bytes, memory->at(2 * kMiB, kMiB));
  EXPECT_TRUE(all_are(bytes, 0));
  std::ranges::fill(bytes, std::byte{3});
  device.copy(memory->at(0, kMiB), bytes);
  memory->commit(9 * kMiB);
  device.copy(memory->at(8 * kMiB, kMiB), memory->at(0, kMiB));
  device.fill(memory->at(0, kMiB), std::byte{4});
  std::ranges::fill(bytes, std::byte{0});
  device.copy(bytes, memory->at(8 * kMiB, kMiB));
  EXPECT_TRUE(all_are(bytes, 3));
  device.copy(bytes, memory->at(0, kMiB));
  EXPECT_TRUE(all_are(bytes, 4));
  device.copy(bytes, memory->at(7 * kMiB, kMiB));
  EXPECT_TRUE(all_are(bytes, 0));
  memory->commit(kMiB);
}

// Work of one stream waits for that of another, and is waited for by who destroys the stream.
void expect_streams(Device& device) {
  Pages const pages(8192);
  auto const pinned = device.pin(pages.all());
  auto const memory = device.reserve("memory", kMiB, kMiB);
  auto const there = memory->at(0, 4096);
  auto const from = pages.all().first(4096), to = pages.all().last(4096);
  auto const begin = device.event(), end = device.event();
  std::ranges::fill(from, std::byte{5});
  {
    auto const up = device.stream(true), down = device.stream(false);
    up->record(*begin);
    up->copy(there, from);
    up->fill(there.part(0, 2048), std::byte{6});
    up->record(*end);
    down->wait(*end);
    down->copy(to.first(2048), there.part(0, 2048));
    down->copy(device.on_device(to.last(2048)), there.part(2048, 2048));
    while (!end->done()) {
    }
    EXPECT_GT(end->seconds_since(*begin), 0);
    device.check();
  }
  EXPECT_TRUE(all_are(to.first(2048), 6));
  EXPECT_TRUE(all_are(to.last(2048), 5));
  device.copy(from, there);  // pinned memory is copied late
  EXPECT_TRUE(all_are(from.first(2048), 6));
}

// What one was told of is not told again.
void add_failures(Told& told, Device& device) {
  auto const add = [&](auto const& use) {
    told.push_back(failure_of(use));
    EXPECT_EQ(failure_of([&] { device.check(); }), "no failure");
  };
  std::vector<std::byte> plain(4096);
  add([&] { device.reserve("too much", 16 * kMiB, 0); });
  add([&] { device.on_device(plain); });
  add([] { open_cuda_device(7); });
  fail_next("cuMemAddressReserve", cudaErrorUnknown);
  add([&] { device.reserve("memory", kMiB, kMiB); });
  fail_next("cudaHostRegister", cudaErrorMemoryAllocation);
  add([&] { device.pin(plain); });
  cudaSetDevice(-1);  // fails, and nobody looks
  told.push_back(failure_of([&] { device.check(); }));
}

}  // namespace

std::vector<std::string> device_session() {
  auto const last = cuda_device_count() - 1;
  Told told = {std::to_string(last)};
  {
    auto const device = cuda::checked(open_cuda_device(last));
    told.push_back(description(*device));
    expect_memory(*device);
    expect_streams(*device);
    EXPECT_EQ(cuda::complaints(), Told{});
    add_failures(told, *device);
    cuda::forget_complaints();
  }
  EXPECT_EQ(cuda::complaints(), Told{});
  EXPECT_EQ(cuda::leftovers(), Told{});
  return told;
}

}  // namespace spillway::test
