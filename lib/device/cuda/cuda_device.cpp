#include "device/cuda/cuda_device.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <stdexcept>

#include "base/allocator_pass.hpp"
#include "base/error.hpp"
#include "device/cuda/architectures.hpp"
#include "device/cuda/calls.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/stream.hpp"

namespace spillway {
namespace {

// Makes CUDA load all kernels when it starts. A kernel that is loaded at its first launch would
// take memory that the plan has given to tensors.
void load_kernels_at_start() {
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

int attribute(CudaContext const& context, CudaCalls const& calls, cudaDeviceAttr which) {
  int value = -1;
  calls.require(cudaDeviceGetAttribute(&value, which, context.ordinal), "cudaDeviceGetAttribute",
                "asking for its properties");
  return value;
}

// Times of kernels are those of these versions.
std::string software(CudaCalls const& calls) {
  int driver = 0, runtime = 0;
  calls.require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion", "asking for its driver");
  calls.require(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion", "asking for its library");
  return fmt::format("{}, driver for {}", cuda_version(runtime), cuda_version(driver));
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : m_context(ordinal), m_stream(m_context, false) {}

  bool has_own_memory() const override { return true; }
  DeviceProperties properties() const override;

  std::unique_ptr<DeviceMemory> reserve(std::string name, std::int64_t bytes,
                                        std::int64_t reserve_bytes) override {
    refuse_when_locked("addresses of a device");
    return std::make_unique<CudaMemory>(m_context, m_stream, std::move(name), bytes, reserve_bytes);
  }
  std::unique_ptr<Pinned> pin(HostBytes bytes) override {
    refuse_when_locked("pinned memory");
    return bytes.empty() ? nullptr : std::make_unique<CudaPinned>(m_context, bytes);
  }
  std::unique_ptr<Stream> stream(bool urgent) override {
    refuse_when_locked("a stream");
    return std::make_unique<CudaStream>(m_context, urgent);
  }
  std::unique_ptr<Event> event() override {
    refuse_when_locked("an event");
    return std::make_unique<CudaEvent>(m_context);
  }

  void copy(DeviceBytes to, HostBytes from) override { copy_and_finish(to, from); }
  void copy(HostBytes to, DeviceBytes from) override { copy_and_finish(to, from); }
  void copy(DeviceBytes to, DeviceBytes from) override { copy_and_finish(to, from); }
  void fill(DeviceBytes bytes, std::byte value) override {
    m_stream.fill(bytes, value);
    m_stream.finish();
  }

  HostBytes on_host(DeviceBytes) const override {
    throw std::logic_error("bytes of a CUDA device are not main memory");
  }
  DeviceBytes on_device(HostBytes bytes) const override;
  void check() override;

 private:
  template <class To, class From>
  void copy_and_finish(To to, From from) {
    m_stream.copy(to, from);
    m_stream.finish();
  }

  CudaContext m_context;
  CudaStream m_stream;  // for functions that return when their work has ended
};

DeviceProperties CudaDevice::properties() const {
  CudaCalls const calls(m_context);
  cudaDeviceProp described = {};
  calls.require(cudaGetDeviceProperties(&described, m_context.ordinal), "cudaGetDeviceProperties",
                "asking for its name");
  auto const memory = cuda_memory(calls);
  auto const asked = [&](cudaDeviceAttr which) { return attribute(m_context, calls, which); };
  std::string id;
  for (auto const byte : described.uuid.bytes)
    id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return {.name = described.name,
          .id = std::move(id),
          .target = fmt::format("sm_{}{}", asked(cudaDevAttrComputeCapabilityMajor),
                                asked(cudaDevAttrComputeCapabilityMinor)),
          .software = software(calls),
          .memory_bytes = memory.all_bytes,
          .free_bytes = memory.free_bytes,
          .compute_units = asked(cudaDevAttrMultiProcessorCount),
          .numa_node = asked(cudaDevAttrHostNumaId)};
}

DeviceBytes CudaDevice::on_device(HostBytes bytes) const {
  CudaCalls const calls(m_context);
  void* address = nullptr;
  calls.require(cudaHostGetDevicePointer(&address, bytes.data(), 0), "cudaHostGetDevicePointer",
                "main memory that is not pinned");
  return {address, std::ssize(bytes)};
}

void CudaDevice::check() {
  CudaCalls const calls(m_context);
  // After a fault in a kernel, every later call of CUDA fails, on any thread and stream, so
  // finish() finds the fault. A failed launch is only noted for the thread that tried it.
  m_stream.finish();
  calls.require_nothing_noted("what was started before");
}

}  // namespace

int cuda_device_count() noexcept {
  load_kernels_at_start();
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string why_no_code(int ordinal, std::string_view architectures) {
  AllocatorPass const pass;
  cudaDeviceProp device = {};
  if (cudaGetDeviceProperties(&device, ordinal) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
  if (has_code_for(architectures, 10 * device.major + device.minor)) return "";
  return fmt::format("{} is an sm_{}{}, and the module is compiled for {}", device.name,
                     device.major, device.minor, architectures);
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  load_kernels_at_start();
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace spillway
