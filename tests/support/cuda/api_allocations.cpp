// Implements memory that the runtime API gives, and main memory that it registers.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::AddressRange;
using cuda::Allocation;
using cuda::call;
using cuda::State;
using Kind = Allocation::Kind;

namespace {

cudaError_t allocate(char const* name, Kind kind, void** address, std::size_t bytes) {
  return call(name, [&](State& all) {
    *address = nullptr;
    if (bytes == 0) return cudaSuccess;
    auto const device = cuda::thread_state().device;
    auto const first =
        all.allocations.add(all.memory, kind, device, static_cast<std::int64_t>(bytes));
    if (first == 0) return cudaErrorMemoryAllocation;
    if (kind == Kind::pinned) all.pinned.add({first, all.allocations.find(first)->reserved_bytes});
    *address = reinterpret_cast<void*>(first);
    return cudaSuccess;
  });
}

// CUDA waits for all work of the device before memory is given back, and the thread that does so
// learns nothing by that.
void drain(State& all) {
  cuda::Scheduler::Demand drained{.met = [&] { return all.queues.idle(); }};
  all.scheduler.serve(drained);
}

cudaError_t give_back(char const* name, void* address, bool is_pinned) {
  return call(
      name,
      [&](State& all) {
        if (address == nullptr) return cudaSuccess;
        auto const first = reinterpret_cast<std::uintptr_t>(address);
        auto const* const allocation = all.allocations.find(first);
        if (allocation == nullptr || (allocation->kind == Kind::pinned) != is_pinned)
          return cuda::refuse(cudaErrorInvalidValue, "memory is freed that was not given so");
        AddressRange const range{first, allocation->reserved_bytes};
        cuda::end_work_on(all, range, "memory is freed");
        drain(all);
        all.accesses.forget(range);
        if (is_pinned) all.pinned.remove(first);
        all.allocations.remove(all.memory, first);
        return cudaSuccess;
      },
      cuda::Gives::back);
}

cudaMemoryType type_of(State const& all, std::uintptr_t address) {
  auto const [first, allocation] = all.allocations.around(address);
  if (allocation != nullptr && allocation->kind == Kind::managed) return cudaMemoryTypeManaged;
  if (all.memory.is_device(address) || all.code.variable_around(address, 1))
    return cudaMemoryTypeDevice;
  return all.pinned.holds({address, 1}) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
}

}  // namespace

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return allocate("cudaMalloc", Kind::device, address, bytes);
}
cudaError_t cudaMallocManaged(void** address, std::size_t bytes, unsigned) {
  return allocate("cudaMallocManaged", Kind::managed, address, bytes);
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return allocate("cudaMallocHost", Kind::pinned, address, bytes);
}
cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
  return allocate("cudaHostAlloc", Kind::pinned, address, bytes);
}
cudaError_t cudaFree(void* address) {
  return give_back("cudaFree", address, false);
}
cudaError_t cudaFreeHost(void* address) {
  return give_back("cudaFreeHost", address, true);
}

// Where the bytes of managed memory lie changes no result.
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(void const* first, std::size_t bytes, cudaMemLocation, unsigned,
                                 cudaStream_t) {
#else
cudaError_t cudaMemPrefetchAsync(void const* first, std::size_t bytes, int, cudaStream_t) {
#endif
  return call("cudaMemPrefetchAsync", [&](State& all) {
    if (all.allocations.is_managed(cuda::range_of(first, static_cast<std::int64_t>(bytes))))
      return cudaSuccess;
    return cuda::refuse(cudaErrorInvalidValue, "a prefetch of memory that is not managed");
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* address) {
  return call("cudaPointerGetAttributes", [&](State& all) {
    *attributes = {};
    attributes->type = type_of(all, reinterpret_cast<std::uintptr_t>(address));
    attributes->device = cuda::thread_state().device;
    auto* const at = const_cast<void*>(address);
    if (attributes->type != cudaMemoryTypeUnregistered) attributes->devicePointer = at;
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = at;
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* first, std::size_t bytes, unsigned) {
  return call("cudaHostRegister", [&](State& all) {
    ::madvise(first, bytes, MADV_POPULATE_WRITE);  // CUDA makes registered memory resident
    return all.pinned.add(cuda::range_of(first, static_cast<std::int64_t>(bytes)));
  });
}

cudaError_t cudaHostUnregister(void* first) {
  return call(
      "cudaHostUnregister",
      [&](State& all) {
        auto const range = all.pinned.find(reinterpret_cast<std::uintptr_t>(first));
        cuda::end_work_on(all, range, "registered memory is given back");
        all.accesses.forget(range);
        return all.pinned.remove(reinterpret_cast<std::uintptr_t>(first));
      },
      cuda::Gives::back);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call("cudaHostGetDevicePointer", [&](State& all) {
    if (flags != 0 || !all.pinned.holds(cuda::range_of(host, 1)))
      return cuda::refuse(cudaErrorInvalidValue, "a device address of what is not registered");
    *device = host;
    return cudaSuccess;
  });
}
