// Implements functions of the driver API, whose addresses the runtime API returns by name.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <map>
#include <string_view>

#include "tests/support/cuda/call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::AddressRange;
using cuda::Gives;
using cuda::SimulatedMemory;
using cuda::State;

namespace {

// Errors of the runtime API have the numbers that they have in the driver API.
template <class Body>
CUresult driver_call(char const* name, Body const& body, Gives gives = Gives::nothing) {
  return static_cast<CUresult>(cuda::counted(name, gives, [&](State& all, bool) -> cudaError_t {
    return static_cast<cudaError_t>(body(all));
  }));
}

AddressRange range_of(CUdeviceptr first, std::size_t bytes) {
  return {static_cast<std::uintptr_t>(first), static_cast<std::int64_t>(bytes)};
}

bool is_on_a_device(State const& all, CUmemLocation const& location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id >= 0 &&
         location.id < all.settings.devices;
}

bool is_good(State const& all, CUmemAllocationProp const& properties) {
  return properties.type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE &&
         is_on_a_device(all, properties.location);
}

CUresult refuse(char const* why) {
  cuda::complain(why);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult address_reserve(CUdeviceptr* address, std::size_t bytes, std::size_t alignment,
                         CUdeviceptr, unsigned long long flags) {
  return driver_call("cuMemAddressReserve", [&](State& all) {
    if (flags != 0 || alignment > SimulatedMemory::kGranularity ||
        (alignment & (alignment - 1)) != 0)
      return refuse("addresses are reserved with flags or an alignment that is none");
    return all.memory.reserve(address, static_cast<std::int64_t>(bytes));
  });
}

CUresult address_free(CUdeviceptr address, std::size_t bytes) {
  return driver_call(
      "cuMemAddressFree",
      [&](State& all) { return all.memory.free_addresses(range_of(address, bytes)); }, Gives::back);
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                CUmemAllocationProp const* properties, unsigned long long flags) {
  return driver_call("cuMemCreate", [&](State& all) {
    if (flags != 0 || !is_good(all, *properties))
      return refuse("device memory is created of a kind that the stand-in does not have");
    cuda::expect_chosen(properties->location.id, "memory");
    return all.memory.create(handle, static_cast<std::int64_t>(bytes), properties->location.id);
  });
}

CUresult release(CUmemGenericAllocationHandle handle) {
  return driver_call(
      "cuMemRelease", [&](State& all) { return all.memory.release(handle); }, Gives::back);
}

CUresult map(CUdeviceptr address, std::size_t bytes, std::size_t offset,
             CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return driver_call("cuMemMap", [&](State& all) {
    if (flags != 0 || offset != 0) return refuse("memory is mapped with flags or at an offset");
    return all.memory.map(range_of(address, bytes), handle);
  });
}

CUresult unmap(CUdeviceptr address, std::size_t bytes) {
  return driver_call(
      "cuMemUnmap",
      [&](State& all) {
        auto const range = range_of(address, bytes);
        cuda::end_work_on(all, range, "device memory is unmapped");
        all.accesses.forget(range);
        return all.memory.unmap(range);
      },
      Gives::back);
}

CUresult set_access(CUdeviceptr address, std::size_t bytes, CUmemAccessDesc const* descriptions,
                    std::size_t count) {
  return driver_call("cuMemSetAccess", [&](State& all) {
    if (count != 1 || !is_on_a_device(all, descriptions[0].location))
      return refuse("access is set for what is not one device");
    auto const& [location, flags] = descriptions[0];
    return all.memory.allow(range_of(address, bytes), location.id,
                            flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  });
}

CUresult granularity(std::size_t* bytes, CUmemAllocationProp const* properties,
                     CUmemAllocationGranularity_flags) {
  return driver_call("cuMemGetAllocationGranularity", [&](State& all) {
    if (!is_good(all, *properties)) return refuse("the granularity of memory of another kind");
    *bytes = static_cast<std::size_t>(SimulatedMemory::kGranularity);
    return CUDA_SUCCESS;
  });
}

CUresult error_name(CUresult error, char const** name) {
  switch (error) {
#define SPILLWAY_ERROR(error) \
  case error:                 \
    *name = #error;           \
    return CUDA_SUCCESS
    SPILLWAY_ERROR(CUDA_SUCCESS);
    SPILLWAY_ERROR(CUDA_ERROR_INVALID_VALUE);
    SPILLWAY_ERROR(CUDA_ERROR_OUT_OF_MEMORY);
    SPILLWAY_ERROR(CUDA_ERROR_DEVICE_UNAVAILABLE);
    SPILLWAY_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS);
    SPILLWAY_ERROR(CUDA_ERROR_UNKNOWN);
#undef SPILLWAY_ERROR
    default:
      *name = nullptr;
      return CUDA_ERROR_INVALID_VALUE;
  }
}

struct Entry {
  void* function;
  unsigned since;  // is the version of CUDA that introduced the function
};

std::map<std::string_view, Entry> const& entries() {
  static auto const& result = *new std::map<std::string_view, Entry>{
      {"cuMemAddressReserve", {reinterpret_cast<void*>(address_reserve), 10020}},
      {"cuMemAddressFree", {reinterpret_cast<void*>(address_free), 10020}},
      {"cuMemCreate", {reinterpret_cast<void*>(create), 10020}},
      {"cuMemRelease", {reinterpret_cast<void*>(release), 10020}},
      {"cuMemMap", {reinterpret_cast<void*>(map), 10020}},
      {"cuMemUnmap", {reinterpret_cast<void*>(unmap), 10020}},
      {"cuMemSetAccess", {reinterpret_cast<void*>(set_access), 10020}},
      {"cuMemGetAllocationGranularity", {reinterpret_cast<void*>(granularity), 10020}},
      {"cuStreamGetCtx", {reinterpret_cast<void*>(cuStreamGetCtx), 9020}},
      {"cuCtxPushCurrent", {reinterpret_cast<void*>(cuCtxPushCurrent_v2), 4000}},
      {"cuCtxGetDevice", {reinterpret_cast<void*>(cuCtxGetDevice), 2000}},
      {"cuGetErrorName", {reinterpret_cast<void*>(error_name), 6000}},
  };
  return result;
}

}  // namespace

cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned version,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return cuda::call("cudaGetDriverEntryPointByVersion", [&](State&) {
    auto const found = entries().find(symbol);
    auto const known = found != entries().end();
    auto const result = !known                          ? cudaDriverEntryPointSymbolNotFound
                        : version < found->second.since ? cudaDriverEntryPointVersionNotSufficent
                                                        : cudaDriverEntryPointSuccess;
    *function = result == cudaDriverEntryPointSuccess ? found->second.function : nullptr;
    if (status != nullptr) *status = result;
    return *function != nullptr || status != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}
