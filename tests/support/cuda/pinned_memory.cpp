#include "tests/support/cuda/pinned_memory.hpp"

#include <fmt/format.h>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {

cudaError_t PinnedMemory::add(AddressRange const& range) {
  constexpr std::int64_t kPage = 4096;
  if (range.bytes <= 0 || range.first % kPage != 0 || range.bytes % kPage != 0) {
    complain("what is registered is not whole pages");
    return cudaErrorInvalidValue;
  }
  if (touches(range)) {
    complain("bytes are registered twice");
    return cudaErrorHostMemoryAlreadyRegistered;
  }
  m_all[range.first] = range.bytes;
  return cudaSuccess;
}

cudaError_t PinnedMemory::remove(std::uintptr_t first) {
  if (m_all.erase(first) > 0) return cudaSuccess;
  complain("no registration begins at what is unregistered");
  return cudaErrorHostMemoryNotRegistered;
}

AddressRange PinnedMemory::find(std::uintptr_t first) const {
  auto const found = m_all.find(first);
  return found == m_all.end() ? AddressRange{} : AddressRange{first, found->second};
}

bool PinnedMemory::holds(AddressRange const& range) const {
  auto const after = m_all.upper_bound(range.first);
  if (after == m_all.begin()) return false;
  auto const& [first, bytes] = *std::prev(after);
  return AddressRange{first, bytes}.holds(range);
}

bool PinnedMemory::touches(AddressRange const& range) const {
  auto const after = m_all.lower_bound(range.last());
  if (after == m_all.begin()) return false;
  auto const& [first, bytes] = *std::prev(after);
  return AddressRange{first, bytes}.overlaps(range);
}

std::vector<AddressRange> PinnedMemory::ranges() const {
  std::vector<AddressRange> result;
  for (auto const& [first, bytes] : m_all) result.push_back({first, bytes});
  return result;
}

std::vector<std::string> PinnedMemory::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [first, bytes] : m_all)
    result.push_back(fmt::format("{} bytes of main memory are registered", bytes));
  return result;
}

}  // namespace spillway::test::cuda
