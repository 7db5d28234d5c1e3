// Says what lies at the addresses of SimulatedMemory, and who may touch it.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/cuda/device_memory.hpp"

namespace spillway::test::cuda {

SimulatedMemory::Reservations::const_iterator SimulatedMemory::find(
    AddressRange const& range) const {
  auto after = m_reservations.upper_bound(range.first);
  if (after == m_reservations.begin()) return m_reservations.end();
  --after;
  return AddressRange{after->first, after->second.bytes}.holds(range) ? after
                                                                      : m_reservations.end();
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
    return !range.overlaps({first, mapped.bytes}) || mapped.memory->device() == device;
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
      if (!mapping.access || mapping.memory->device() != device) continue;
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
    result.push_back(fmt::format("handle {} of {} bytes is held", handle, memory->bytes()));
  return result;
}

}  // namespace spillway::test::cuda
