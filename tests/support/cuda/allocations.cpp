#include "tests/support/cuda/allocations.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "base/math.hpp"

namespace spillway::test::cuda {
namespace {

using Kind = Allocation::Kind;

constexpr std::int64_t kPage = 4096;

// Maps new memory of a device, or returns 0. The handle is released at once: the mapping keeps it.
std::uintptr_t device_memory(SimulatedMemory& memory, int device, std::int64_t bytes) {
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handle = 0;
  if (memory.create(&handle, bytes, device) != CUDA_SUCCESS) return 0;
  bool const has_addresses = memory.reserve(&address, bytes) == CUDA_SUCCESS;
  AddressRange const range{static_cast<std::uintptr_t>(address), bytes};
  if (has_addresses) {
    memory.map(range, handle);
    memory.allow(range, device, true);
  }
  memory.release(handle);
  return range.first;
}

// Returns main memory, or 0. It holds NaN in every type, not zeros, so that nobody counts on these.
std::uintptr_t main_memory(std::int64_t bytes) {
  auto const size = static_cast<std::size_t>(bytes);
  auto* const at =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 0;
  std::memset(at, 0xff, size);
  return reinterpret_cast<std::uintptr_t>(at);
}

char const* name(Kind kind) {
  return kind == Kind::device ? "device" : kind == Kind::pinned ? "pinned" : "managed";
}

}  // namespace

std::uintptr_t Allocations::add(SimulatedMemory& memory, Kind kind, int device,
                                std::int64_t bytes) {
  bool const is_device = kind == Kind::device;
  auto const reserved = round_up(bytes, is_device ? SimulatedMemory::kGranularity : kPage);
  auto const first = is_device ? device_memory(memory, device, reserved) : main_memory(reserved);
  if (first != 0) m_all[first] = {kind, device, bytes, reserved};
  return first;
}

void Allocations::remove(SimulatedMemory& memory, std::uintptr_t first) {
  auto const found = m_all.find(first);
  AddressRange const range{first, found->second.reserved_bytes};
  if (found->second.kind == Kind::device) {
    memory.unmap(range);
    memory.free_addresses(range);
  } else {
    ::munmap(reinterpret_cast<void*>(first), static_cast<std::size_t>(range.bytes));
  }
  m_all.erase(found);
}

void Allocations::remove_all(SimulatedMemory& memory) {
  while (!m_all.empty()) remove(memory, m_all.begin()->first);
}

Allocation const* Allocations::find(std::uintptr_t first) const {
  auto const found = m_all.find(first);
  return found == m_all.end() ? nullptr : &found->second;
}

std::pair<std::uintptr_t, Allocation const*> Allocations::around(std::uintptr_t address) const {
  auto const after = m_all.upper_bound(address);
  if (after == m_all.begin()) return {0, nullptr};
  auto const& [first, allocation] = *std::prev(after);
  bool const inside = AddressRange{first, allocation.reserved_bytes}.holds({address, 1});
  return {first, inside ? &allocation : nullptr};
}

bool Allocations::allow(AddressRange const& range) const {
  auto const [first, allocation] = around(range.first);
  return allocation == nullptr || AddressRange{first, allocation->bytes}.holds(range);
}

bool Allocations::is_managed(AddressRange const& range) const {
  auto const [first, allocation] = around(range.first);
  return allocation != nullptr && allocation->kind == Kind::managed &&
         AddressRange{first, allocation->bytes}.holds(range);
}

std::vector<std::string> Allocations::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [first, allocation] : m_all)
    result.push_back(fmt::format("{} bytes of {} memory are not freed", allocation.bytes,
                                 name(allocation.kind)));
  return result;
}

}  // namespace spillway::test::cuda
