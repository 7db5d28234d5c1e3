#include "tests/support/cuda/pinned_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/support/cuda/complaints.hpp"
#include "tests/support/ptx/memory.hpp"

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
  m_all[range.first] = {range.bytes};
  return cudaSuccess;
}

cudaError_t PinnedMemory::remove(std::uintptr_t first) {
  if (m_all.erase(first) > 0) return cudaSuccess;
  complain("no registration begins at what is unregistered");
  return cudaErrorHostMemoryNotRegistered;
}

AddressRange PinnedMemory::find(std::uintptr_t first) const {
  auto const found = m_all.find(first);
  return found == m_all.end() ? AddressRange{} : AddressRange{first, found->second.bytes};
}

PinnedMemory::Registered const* PinnedMemory::around(AddressRange const& range,
                                                     std::uintptr_t& first) const {
  auto const after = m_all.upper_bound(range.first);
  if (after == m_all.begin()) return nullptr;
  auto const& [begin, registered] = *std::prev(after);
  first = begin;
  return AddressRange{begin, registered.bytes}.holds(range) ? &registered : nullptr;
}

bool PinnedMemory::holds(AddressRange const& range) const {
  std::uintptr_t first = 0;
  return around(range, first) != nullptr;
}

std::uint8_t* PinnedMemory::states(AddressRange const& range) const {
  std::uintptr_t first = 0;
  auto const* const registered = around(range, first);
  if (registered == nullptr || registered->states.empty()) return nullptr;
  return const_cast<std::uint8_t*>(registered->states.data()) + (range.first - first);
}

void PinnedMemory::keep_states(AddressRange const& range) {
  std::uintptr_t first = 0;
  if (around(range, first) == nullptr) return;
  auto& registered = m_all.at(first);
  if (registered.states.empty())
    registered.states.assign(static_cast<std::size_t>(registered.bytes), ptx::kKnown);
}

bool PinnedMemory::touches(AddressRange const& range) const {
  auto const after = m_all.lower_bound(range.last());
  if (after == m_all.begin()) return false;
  auto const& [first, registered] = *std::prev(after);
  return AddressRange{first, registered.bytes}.overlaps(range);
}

std::vector<AddressRange> PinnedMemory::ranges() const {
  std::vector<AddressRange> result;
  for (auto const& [first, registered] : m_all) result.push_back({first, registered.bytes});
  return result;
}

std::vector<std::string> PinnedMemory::leftovers() const {
  std::vector<std::string> result;
  for (auto const& [first, registered] : m_all)
    result.push_back(fmt::format("{} bytes of main memory are registered", registered.bytes));
  return result;
}

void see_changes(std::byte const* at, std::int64_t bytes, std::uint8_t* states) {
  constexpr std::uintptr_t kWord = 4;
  AddressRange const all = range_of(at, bytes);
  for (auto first = all.first; first < all.last();) {
    auto const last = std::min((first / kWord + 1) * kWord, all.last());
    auto const* const word = at + (first - all.first);
    bool const changed = std::any_of(word, word + (last - first),
                                     [](std::byte byte) { return byte != std::byte{0xff}; });
    if (changed) std::memset(states + (first - all.first), ptx::kKnown, last - first);
    first = last;
  }
}

}  // namespace spillway::test::cuda
