// Lets callers reserve, create, map and allow under the rules of CUDA's driver.
#include "tests/support/cuda/device_memory.hpp"

#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/trap.hpp"

namespace spillway::test::cuda {
namespace {

CUresult wrong(char const* why) {
  complain(why);
  return CUDA_ERROR_INVALID_VALUE;
}

bool is_aligned(AddressRange const& range) {
  auto const granularity = static_cast<std::uintptr_t>(SimulatedMemory::kGranularity);
  return range.first % granularity == 0 && range.bytes > 0 &&
         range.bytes % SimulatedMemory::kGranularity == 0;
}

}  // namespace

std::int64_t SimulatedMemory::free(int device) const {
  auto left = m_total - m_taken;
  for (auto const& weak : m_memory) {
    auto const memory = weak.lock();
    if (memory && memory->device() == device) left -= memory->bytes();
  }
  return left;
}

CUresult SimulatedMemory::reserve(CUdeviceptr* address, std::int64_t bytes) {
  if (!is_aligned({0, bytes})) return wrong("addresses are reserved in whole granules");
  auto* const at = reserve_pages(bytes, kGranularity);
  if (at == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  auto* const shadow = reserve_pages(2 * bytes, kGranularity);
  if (shadow == nullptr) {
    release_pages(at, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  auto const range = range_of(at, bytes);
  trap(range);
  m_reservations[range.first] = {bytes, shadow, {}};
  *address = range.first;
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::free_addresses(AddressRange const& range) {
  auto const found = m_reservations.find(range.first);
  if (found == m_reservations.end() || found->second.bytes != range.bytes)
    return wrong("addresses are freed that were not reserved so");
  if (!found->second.mappings.empty()) return wrong("addresses are freed that are still mapped");
  do_not_trap(range);
  release_pages(found->second.shadow, 2 * range.bytes);
  release_pages(reinterpret_cast<void*>(range.first), range.bytes);
  m_reservations.erase(found);
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::create(CUmemGenericAllocationHandle* handle, std::int64_t bytes,
                                 int device) {
  if (!is_aligned({0, bytes})) return wrong("device memory is created in whole granules");
  std::erase_if(m_memory, [](auto const& memory) { return memory.expired(); });
  if (bytes > free(device)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto const memory = DevicePages::make(device, bytes);
  if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  m_memory.push_back(memory);
  m_handles[m_next_handle] = memory;
  *handle = m_next_handle++;
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::release(CUmemGenericAllocationHandle handle) {
  return m_handles.erase(handle) > 0 ? CUDA_SUCCESS
                                     : wrong("a handle is released that is none, or twice");
}

SimulatedMemory::Reservation* SimulatedMemory::find_reservation(AddressRange const& range) {
  auto const found = find(range);
  if (found == m_reservations.end()) return nullptr;
  return &m_reservations.at(found->first);
}

CUresult SimulatedMemory::map(AddressRange const& range, CUmemGenericAllocationHandle handle) {
  auto* const reservation = find_reservation(range);
  auto const memory = m_handles.find(handle);
  if (reservation == nullptr) return wrong("memory is mapped where no addresses are reserved");
  if (memory == m_handles.end()) return wrong("memory is mapped of no handle");
  if (!is_aligned(range) || range.bytes > memory->second->bytes())
    return wrong("what is mapped is not whole granules of the handle's memory");
  for (auto const& [first, mapping] : reservation->mappings) {
    if (range.overlaps({first, mapping.bytes})) return wrong("addresses are mapped twice");
  }
  memory->second->map(range.bytes, shadow(range.first), states(range.first));
  reservation->mappings[range.first] = {range.bytes, memory->second, false};
  return CUDA_SUCCESS;
}

std::vector<SimulatedMemory::Mapping*> SimulatedMemory::mappings_of(AddressRange const& range) {
  auto* const reservation = find_reservation(range);
  std::vector<Mapping*> result;
  auto at = range.first;
  while (reservation != nullptr && at < range.last()) {
    auto const found = reservation->mappings.find(at);
    if (found == reservation->mappings.end()) return {};
    result.push_back(&found->second);
    at += static_cast<std::uintptr_t>(found->second.bytes);
  }
  return at == range.last() ? result : std::vector<Mapping*>{};
}

CUresult SimulatedMemory::unmap(AddressRange const& range) {
  if (mappings_of(range).empty()) return wrong("what is unmapped is not what was mapped");
  unmap_pages(shadow(range.first), range.bytes);
  unmap_pages(states(range.first), range.bytes);
  auto& mappings = find_reservation(range)->mappings;
  mappings.erase(mappings.lower_bound(range.first), mappings.lower_bound(range.last()));
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::allow(AddressRange const& range, int device, bool access) {
  auto const mappings = mappings_of(range);
  if (mappings.empty()) return wrong("access is set where nothing is mapped");
  for (auto* const mapping : mappings) {
    if (mapping->memory->device() != device) return wrong("access is set for another device");
    mapping->access = access;
  }
  return CUDA_SUCCESS;
}

void SimulatedMemory::give_all_back() {
  m_handles.clear();
  while (!m_reservations.empty()) {
    auto& [first, reservation] = *m_reservations.begin();
    reservation.mappings.clear();
    free_addresses({first, reservation.bytes});
  }
}

}  // namespace spillway::test::cuda
