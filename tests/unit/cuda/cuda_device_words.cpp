// What the backend says of a call of CUDA's that fails: the device, what it was for, and its name.
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "device/cuda/cuda_device.hpp"
#include "tests/unit/cuda/cuda_case.hpp"

namespace spillway::test::cuda::cuda_device_words_test {
namespace {

using Kind = PlannedFault::Kind;
constexpr std::int64_t kMib = std::int64_t{1} << 20;

// A device with something of everything that it makes.
struct Made {
  std::unique_ptr<Device> device = open_cuda_device(0);
  std::unique_ptr<DeviceMemory> memory = device->reserve("memory.device", 4 * kMib, 16 * kMib);
  Pages pages{std::size_t{2} << 20};
  std::unique_ptr<Pinned> pinned = device->pin(pages.all());
  std::unique_ptr<Stream> stream = device->stream(true);
  std::unique_ptr<Event> begin = device->event(), end = device->event();

  HostBytes here() const { return pages.all().first(64); }
  DeviceBytes there(std::int64_t first = 0) const { return memory->at(first, 64); }
  void record_both() const {
    stream->record(*begin);
    stream->record(*end);
    device->check();
  }
};

Error error_of(std::function<void()> const& act) {
  try {
    act();
  } catch (Error const& error) {
    return error;
  }
  return {Status::done, "no error"};
}

struct Failing {
  char const* doing;
  char const* call;
  std::function<void(Made&)> act;
};

class CudaDeviceWords : public CudaStandIn {};

TEST_F(CudaDeviceWords, name_the_call_and_what_it_was_for) {
  Pages more(4096);
  Failing const all[] = {
      {"making an event", "cudaEventCreateWithFlags", [](Made& m) { m.device->event(); }},
      {"asking for an event", "cudaEventQuery", [](Made& m) { m.end->done(); }},
      {"taking the time between events", "cudaEventElapsedTime",
       [](Made& m) { m.end->seconds_since(*m.begin); }},
      {"making a stream", "cudaDeviceGetStreamPriorityRange",
       [](Made& m) { m.device->stream(false); }},
      {"making a stream", "cudaStreamCreateWithPriority", [](Made& m) { m.device->stream(false); }},
      {"copying from the host to the device", "cudaMemcpyAsync",
       [](Made& m) { m.stream->copy(m.there(), m.here()); }},
      {"copying from the device to the host", "cudaMemcpyAsync",
       [](Made& m) { m.stream->copy(m.here(), m.there()); }},
      {"copying on the device", "cudaMemcpyAsync",
       [](Made& m) { m.stream->copy(m.there(), m.there(64)); }},
      {"filling bytes of the device", "cudaMemsetAsync",
       [](Made& m) { m.stream->fill(m.there(), std::byte{1}); }},
      {"recording an event", "cudaEventRecord", [](Made& m) { m.stream->record(*m.end); }},
      {"letting a stream wait for an event", "cudaStreamWaitEvent",
       [](Made& m) { m.stream->wait(*m.end); }},
      {"waiting for the end of a stream", "cudaStreamSynchronize",
       [](Made& m) { m.device->check(); }},
      {"pinning main memory", "cudaHostRegister", [&](Made& m) { m.device->pin(more.all()); }},
      {"main memory that is not pinned", "cudaHostGetDevicePointer",
       [](Made& m) { m.device->on_device(m.here()); }},
      {"asking for its name", "cudaGetDeviceProperties", [](Made& m) { m.device->properties(); }},
      {"asking for its properties", "cudaDeviceGetAttribute",
       [](Made& m) { m.device->properties(); }},
      {"asking for its driver", "cudaDriverGetVersion", [](Made& m) { m.device->properties(); }},
      {"asking for its library", "cudaRuntimeGetVersion", [](Made& m) { m.device->properties(); }},
      {"asking for its free memory", "cudaMemGetInfo", [](Made& m) { m.device->properties(); }},
      {"asking for the granules of its memory", "cuMemGetAllocationGranularity",
       [](Made& m) { m.device->reserve("x", 1, 1); }},
      {"reserving addresses", "cuMemAddressReserve", [](Made& m) { m.device->reserve("x", 1, 1); }},
      {"giving memory to addresses", "cuMemCreate", [](Made& m) { m.memory->commit(6 * kMib); }},
      {"giving memory to addresses", "cuMemMap", [](Made& m) { m.memory->commit(6 * kMib); }},
      {"giving memory to addresses", "cuMemRelease", [](Made& m) { m.memory->commit(6 * kMib); }},
      {"allowing access to memory", "cuMemSetAccess", [](Made& m) { m.memory->commit(6 * kMib); }},
      {"taking memory from addresses", "cuMemUnmap", [](Made& m) { m.memory->commit(1); }},
  };
  for (auto const& [doing, call, act] : all) {
    SCOPED_TRACE(call);
    reset();
    Made made;
    made.record_both();
    auto const before = calls();
    plan_fault({.call = call, .n = before.contains(call) ? before.at(call) : 0});
    auto const error = error_of([&] { act(made); });
    EXPECT_EQ(error.status(), Status::device);
    auto const is_driver = std::string_view(call).starts_with("cuM");
    auto const* const name = is_driver ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "cudaErrorIllegalAddress: ";
    auto const expected =
        fmt::format("CUDA device 0 at 0000:01:00.0: {}: {}: {}", doing, call, name);
    EXPECT_EQ(std::string(error.what()).substr(0, expected.size()), expected);
  }
  reset();
  give_back_leftovers();
}

TEST_F(CudaDeviceWords, name_the_memory_that_is_not_there_and_what_is_free) {
  auto const why = [](char const* call, std::function<void(Made&)> const& act) {
    reset({.taken_bytes = 24 * kMib});
    Made made;
    auto const before = calls();
    plan_fault({call, before.contains(call) ? before.at(call) : 0, Kind::out_of_memory});
    auto const error = error_of([&] { act(made); });
    EXPECT_EQ(error.status(), Status::cannot_fit);
    return std::string(error.what());
  };
  EXPECT_EQ(why("cuMemCreate", [](Made& m) { m.memory->commit(7 * kMib); }),
            "memory.device: CUDA device 0 at 0000:01:00.0 does not give 7 MiB: 996 MiB are free");
  EXPECT_EQ(why("cuMemAddressReserve", [](Made& m) { m.device->reserve("ring", 3 * kMib, 0); }),
            "ring: CUDA device 0 at 0000:01:00.0 does not give addresses for 4 MiB: 996 MiB are "
            "free");
  Pages const more(8192);
  auto const pinning = why("cudaHostRegister", [&](Made& m) { m.device->pin(more.all()); });
  EXPECT_TRUE(
      pinning.starts_with("CUDA device 0 at 0000:01:00.0: 8 KiB of main memory cannot be "
                          "pinned: cudaHostRegister: cudaErrorMemoryAllocation: "))
      << pinning;
}

TEST_F(CudaDeviceWords, of_a_device_that_does_not_open_tell_versions_and_have_no_place_yet) {
  auto const why = [](char const* call) {
    reset();
    open_cuda_device(0);  // this thread has chosen it before
    auto const before = calls();
    plan_fault({.call = call, .n = before.contains(call) ? before.at(call) : 0});
    auto const error = error_of([] { open_cuda_device(0); });
    EXPECT_EQ(error.status(), Status::device);
    return std::string(error.what());
  };
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  auto const choosing = why("cudaSetDevice");
  EXPECT_TRUE(choosing.starts_with("CUDA device 0: choosing it: cudaSetDevice: cudaError"))
      << choosing;
  EXPECT_TRUE(
      choosing.ends_with(fmt::format(" (driver: CUDA {}.{}, program: CUDA {}.{})", driver / 1000,
                                     driver / 10 % 100, runtime / 1000, runtime / 10 % 100)))
      << choosing;
  auto const place = why("cudaDeviceGetPCIBusId");
  EXPECT_TRUE(place.starts_with("CUDA device 0: asking for its place: cudaDeviceGetPCIBusId: cuda"))
      << place;
}

TEST_F(CudaDeviceWords, of_a_device_are_those_that_cuda_has) {
  auto const device = open_cuda_device(0);
  auto const properties = device->properties();
  auto const asked = [](cudaDeviceAttr which) {
    int value = -7;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  cudaDeviceProp described = {};
  ASSERT_EQ(cudaGetDeviceProperties(&described, 0), cudaSuccess);
  EXPECT_EQ(properties.name, described.name);
  std::string id;
  for (unsigned char const byte : described.uuid.bytes) id += fmt::format("{:02x}", byte);
  EXPECT_EQ(properties.id, id);
  EXPECT_EQ(properties.target, fmt::format("sm_{}{}", asked(cudaDevAttrComputeCapabilityMajor),
                                           asked(cudaDevAttrComputeCapabilityMinor)));
  auto const version = fmt::format("CUDA {}.{}", CUDART_VERSION / 1000, CUDART_VERSION / 10 % 100);
  EXPECT_EQ(properties.software, version + ", driver for " + version);
  EXPECT_EQ(properties.compute_units, asked(cudaDevAttrMultiProcessorCount));
  EXPECT_EQ(properties.numa_node, asked(cudaDevAttrHostNumaId));
  EXPECT_EQ(properties.memory_bytes, std::int64_t{1} << 30);
  EXPECT_TRUE(device->has_own_memory());
}

TEST_F(CudaDeviceWords, of_a_target_are_the_device_s_own) {
  reset({.devices = 3, .architectures = {75, 120}});
  EXPECT_EQ(open_cuda_device(0)->properties().target, "sm_75");
  EXPECT_EQ(open_cuda_device(1)->properties().target, "sm_120");
  EXPECT_EQ(open_cuda_device(2)->properties().target, "sm_90");
}

// Of work that waits, what is urgent goes first.
TEST_F(CudaDeviceWords, of_urgency_are_the_greatest_and_the_least_priority) {
  auto const device = open_cuda_device(0);
  auto const own = priorities().size();
  auto const urgent = device->stream(true), other = device->stream(false);
  int least = 0, greatest = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  auto const all = priorities();
  ASSERT_EQ(all.size(), own + 2);
  EXPECT_EQ(all[own], greatest);
  EXPECT_EQ(all[own + 1], least);
}

}  // namespace
}  // namespace spillway::test::cuda::cuda_device_words_test
