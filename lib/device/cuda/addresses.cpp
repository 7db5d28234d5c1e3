#include "device/cuda/addresses.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "base/math.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

CUmemLocation location(CudaContext const& context) {
  CUmemLocation location = {};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = context.ordinal;
  return location;
}

CUmemAllocationProp properties(CudaContext const& context) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location(context);
  return properties;
}

std::int64_t ask_granule_bytes(CudaContext const& context, CudaCalls const& calls) {
  auto const kind = properties(context);
  std::size_t bytes = 0;
  auto result = context.driver.get_granularity(&bytes, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (result == CUDA_SUCCESS && bytes == 0) result = CUDA_ERROR_UNKNOWN;  // `bytes` is a divisor
  calls.require(result, "cuMemGetAllocationGranularity", "asking for the granules of its memory");
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

CudaMemoryBytes cuda_memory(CudaCalls const& calls) {
  std::size_t free = 0, all = 0;
  calls.require(cudaMemGetInfo(&free, &all), "cudaMemGetInfo", "asking for its free memory");
  return {.free_bytes = static_cast<std::int64_t>(free),
          .all_bytes = static_cast<std::int64_t>(all)};
}

CudaAddresses::CudaAddresses(CudaContext const& context, std::string name, std::int64_t fewest,
                             std::int64_t bytes)
    : m_context(context), m_name(std::move(name)) {
  CudaCalls const calls(m_context);
  m_granule_bytes = ask_granule_bytes(m_context, calls);
  auto result = reserve(std::max(fewest, bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY && fewest < bytes) result = reserve(fewest);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) fail(calls, "addresses for ", m_reserved_bytes);
  calls.require(result, "cuMemAddressReserve", "reserving addresses");
}

CudaAddresses::~CudaAddresses() {
  for (std::int64_t offset = 0; offset < m_mapped_bytes; offset += m_granule_bytes) {
    end_cuda(m_context, [&](CudaCalls const& calls) { remove_granule(calls, offset); });
  }
  end_cuda(m_context, [&](CudaCalls const& calls) {
    calls.require(
        m_context.driver.free_addresses(m_first, static_cast<std::size_t>(m_reserved_bytes)),
        "cuMemAddressFree", "giving addresses back");
  });
}

void CudaAddresses::fail(CudaCalls const& calls, char const* what, std::int64_t bytes) const {
  throw Error(Status::cannot_fit,
              fmt::format("{}: {} does not give {}{}: {} are free", m_name, m_context.name, what,
                          human_bytes(bytes), human_bytes(cuda_memory(calls).free_bytes)));
}

CUresult CudaAddresses::reserve(std::int64_t bytes) {
  m_reserved_bytes = round_up(std::max(bytes, std::int64_t{1}), m_granule_bytes);
  return m_context.driver.reserve_addresses(&m_first, static_cast<std::size_t>(m_reserved_bytes), 0,
                                            0, 0);
}

void CudaAddresses::resize(std::int64_t bytes) {
  check(bytes >= 0 && bytes <= m_reserved_bytes, "device memory", "grows beyond its addresses");
  CudaCalls const calls(m_context);
  auto const before = m_mapped_bytes, end = round_up(bytes, m_granule_bytes);
  bool enough = true;
  while (enough && m_mapped_bytes < end) enough = add_granule(calls);
  while (m_mapped_bytes > (enough ? end : before)) {
    m_mapped_bytes -= m_granule_bytes;
    remove_granule(calls, m_mapped_bytes);
  }
  if (!enough) fail(calls, "", bytes);
  if (m_mapped_bytes > before) allow_access(calls, before);
}

bool CudaAddresses::add_granule(CudaCalls const& calls) {
  auto const doing = "giving memory to addresses";
  auto const& driver = m_context.driver;
  auto const bytes = static_cast<std::size_t>(m_granule_bytes);
  auto const kind = properties(m_context);
  CUmemGenericAllocationHandle memory = 0;
  auto const created = driver.create_memory(&memory, bytes, &kind, 0);
  if (created == CUDA_ERROR_OUT_OF_MEMORY) return false;
  calls.require(created, "cuMemCreate", doing);
  auto const mapped = driver.map_memory(at(m_mapped_bytes), bytes, 0, memory, 0);
  if (mapped == CUDA_SUCCESS) m_mapped_bytes += m_granule_bytes;
  // Memory that is mapped lives until it is unmapped, so its handle can be released now.
  auto const released = driver.release_memory(memory);
  calls.require(mapped, "cuMemMap", doing);
  calls.require(released, "cuMemRelease", doing);
  return true;
}

void CudaAddresses::remove_granule(CudaCalls const& calls, std::int64_t offset) const {
  calls.require(
      m_context.driver.unmap_memory(at(offset), static_cast<std::size_t>(m_granule_bytes)),
      "cuMemUnmap", "taking memory from addresses");
}

void CudaAddresses::allow_access(CudaCalls const& calls, std::int64_t begin) const {
  CUmemAccessDesc access = {};
  access.location = location(m_context);
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  calls.require(m_context.driver.set_access(
                    at(begin), static_cast<std::size_t>(m_mapped_bytes - begin), &access, 1),
                "cuMemSetAccess", "allowing access to memory");
}

}  // namespace spillway
