#include "tests/support/cuda/device_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

// Reserves addresses that trap when they are touched. The range begins at a multiple of the
// granularity.
std::byte* addresses(std::int64_t bytes) {
  auto const size = static_cast<std::size_t>(bytes);
  auto const slack = static_cast<std::size_t>(SimulatedMemory::kGranularity);
  auto const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  auto* const all = ::mmap(nullptr, size + slack, PROT_NONE, flags, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto const before = -reinterpret_cast<std::uintptr_t>(all) % slack;
  auto* const first = static_cast<std::byte*>(all) + before;
  if (before > 0) ::munmap(all, before);
  if (slack > before) ::munmap(first + size, slack - before);
  return first;
}

// All memory is one file, because backends map granules one by one and a process can open few
// files. Offsets are not used again: what is freed becomes a hole in the file.
int memory_file() {
  static int const file = ::memfd_create("device", MFD_CLOEXEC);
  return file;
}

// New memory holds NaN in every type, not zeros, so that code which needs zeros must write them.
// Behind it are the states of its bytes: zeros, so that none is known.
bool make_memory(std::int64_t offset, std::int64_t bytes) {
  auto const file = memory_file();
  auto const size = static_cast<std::size_t>(bytes);
  if (file < 0 || ::ftruncate(file, offset + 2 * bytes) != 0) return false;
  auto* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
  if (at == MAP_FAILED) return false;
  std::memset(at, 0xff, size);
  ::munmap(at, size);
  return true;
}

}  // namespace

SimulatedMemory::Physical::~Physical() {
  ::fallocate(memory_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, 2 * bytes);
}

std::int64_t SimulatedMemory::free(int device) const {
  auto left = m_total - m_taken;
  for (auto const& weak : m_memory) {
    auto const memory = weak.lock();
    if (memory && memory->device == device) left -= memory->bytes;
  }
  return left;
}

CUresult SimulatedMemory::reserve(CUdeviceptr* address, std::int64_t bytes) {
  if (!is_aligned({0, bytes})) return wrong("addresses are reserved in whole granules");
  auto* const at = addresses(bytes);
  if (at == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  auto* const shadow = addresses(2 * bytes);
  if (shadow == nullptr) {
    ::munmap(at, static_cast<std::size_t>(bytes));
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
  auto const size = static_cast<std::size_t>(range.bytes);
  do_not_trap(range);
  ::munmap(found->second.shadow, 2 * size);
  ::munmap(reinterpret_cast<void*>(range.first), size);
  m_reservations.erase(found);
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::create(CUmemGenericAllocationHandle* handle, std::int64_t bytes,
                                 int device) {
  if (!is_aligned({0, bytes})) return wrong("device memory is created in whole granules");
  std::erase_if(m_memory, [](auto const& memory) { return memory.expired(); });
  if (bytes > free(device)) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!make_memory(m_next_offset, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  auto const memory = std::shared_ptr<Physical>(new Physical{device, m_next_offset, bytes});
  m_next_offset += 2 * bytes;
  m_memory.push_back(memory);
  m_handles[m_next_handle] = memory;
  *handle = m_next_handle++;
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::release(CUmemGenericAllocationHandle handle) {
  return m_handles.erase(handle) > 0 ? CUDA_SUCCESS
                                     : wrong("a handle is released that is none, or twice");
}

SimulatedMemory::Reservations::const_iterator SimulatedMemory::find(
    AddressRange const& range) const {
  auto after = m_reservations.upper_bound(range.first);
  if (after == m_reservations.begin()) return m_reservations.end();
  --after;
  return AddressRange{after->first, after->second.bytes}.holds(range) ? after
                                                                      : m_reservations.end();
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
  if (!is_aligned(range) || range.bytes > memory->second->bytes)
    return wrong("what is mapped is not whole granules of the handle's memory");
  for (auto const& [first, mapping] : reservation->mappings) {
    if (range.overlaps({first, mapping.bytes})) return wrong("addresses are mapped twice");
  }
  auto const bytes = static_cast<std::size_t>(range.bytes);
  auto const offset = memory->second->offset;
  ::mmap(shadow(range.first), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_file(),
         offset);
  ::mmap(states(range.first), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory_file(),
         offset + memory->second->bytes);
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
  void* const both[] = {shadow(range.first), states(range.first)};
  for (auto* const at : both)
    ::mmap(at, static_cast<std::size_t>(range.bytes), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  auto& mappings = find_reservation(range)->mappings;
  mappings.erase(mappings.lower_bound(range.first), mappings.lower_bound(range.last()));
  return CUDA_SUCCESS;
}

CUresult SimulatedMemory::allow(AddressRange const& range, int device, bool access) {
  auto const mappings = mappings_of(range);
  if (mappings.empty()) return wrong("access is set where nothing is mapped");
  for (auto* const mapping : mappings) {
    if (mapping->memory->device != device) return wrong("access is set for another device");
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

bool SimulatedMemory::is_device(std::uintptr_t address) const {
  return find({address, 1}) != m_reservations.end();
}

bool SimulatedMemory::accessible(AddressRange const& range) const {
  auto const found = find(range);
  if (found == m_reservations.end()) return false;
  auto const& mappings = found->second.mappings;
  auto mapping = mappings.upper_bound(range.first);
  if (mapping != mappings.begin()) --mapping;
  std::int64_t allowed = 0;
  for (; mapping != mappings.end() && mapping->first < range.last(); ++mapping) {
    if (mapping->second.access)
      allowed += common(range, {mapping->first, mapping->second.bytes}).bytes;
  }
  return allowed == range.bytes;
}

bool SimulatedMemory::is_of(int device, AddressRange const& range) const {
  auto const found = find(range);
  if (found == m_reservations.end()) return true;
  return std::ranges::all_of(found->second.mappings, [&](auto const& mapping) {
    auto const& [first, mapped] = mapping;
    return !range.overlaps({first, mapped.bytes}) || mapped.memory->device == device;
  });
}

std::byte* SimulatedMemory::shadow(std::uintptr_t address) const {
  auto const found = find({address, 0});
  return found == m_reservations.end() ? nullptr : found->second.shadow + (address - found->first);
}

std::uint8_t* SimulatedMemory::states(std::uintptr_t address) const {
  auto const found = find({address, 0});
  if (found == m_reservations.end()) return nullptr;
  return reinterpret_cast<std::uint8_t*>(shadow(address) + found->second.bytes);
}

std::vector<SimulatedMemory::Stretch> SimulatedMemory::stretches(int device) const {
  std::vector<Stretch> result;
  for (auto const& [begin, reservation] : m_reservations) {
    bool joins = false;
    for (auto const& [first, mapping] : reservation.mappings) {
      if (!mapping.access || mapping.memory->device != device) continue;
      joins = joins && result.back().range.last() == first;
      if (joins) {
        result.back().range.bytes += mapping.bytes;
      } else {
        result.push_back({{first, mapping.bytes}, shadow(first), states(first)});
      }
      joins = true;
    }
  }
  return result;
}

std::vector<std::string> SimulatedMemory::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [first, reservation] : m_reservations) {
    result.push_back(fmt::format("{} bytes of addresses are reserved", reservation.bytes));
    for (auto const& [at, mapping] : reservation.mappings)
      result.push_back(fmt::format("{} bytes of memory are mapped", mapping.bytes));
  }
  for (auto const& [handle, memory] : m_handles)
    result.push_back(fmt::format("handle {} of {} bytes is held", handle, memory->bytes));
  return result;
}

}  // namespace spillway::test::cuda
