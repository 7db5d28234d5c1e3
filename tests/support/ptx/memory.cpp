#include "tests/support/ptx/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace spillway::test::ptx {

void Memory::add(Region region) {
  auto const next = std::ranges::lower_bound(m_regions, region.address, {}, &Region::address);
  bool const meets_next = next != m_regions.end() && region.address + region.bytes > next->address;
  auto const* const before = last_up_to(region.address);
  if (meets_next || (before != nullptr && before->holds(region.address, 1)))
    throw std::logic_error(fmt::format("region '{}' overlaps another", region.name));
  m_regions.insert(next, std::move(region));
}

void Memory::remove(std::uint64_t address) {
  std::erase_if(m_regions, [&](Region const& region) { return region.address == address; });
}

Region const* Memory::last_up_to(std::uint64_t address) const {
  auto const next = std::ranges::upper_bound(m_regions, address, {}, &Region::address);
  return next == m_regions.begin() ? nullptr : &*std::prev(next);
}

Region const* Memory::find(std::uint64_t address, std::size_t bytes) const {
  auto const* const region = last_up_to(address);
  return region != nullptr && region->holds(address, bytes) ? region : nullptr;
}

std::string Memory::describe(std::uint64_t address) const {
  auto const* const region = last_up_to(address);
  if (region == nullptr) return fmt::format("address {:#x}", address);
  return fmt::format("address {:#x}, byte {} of '{}', which has {}", address,
                     address - region->address, region->name, region->bytes);
}

}  // namespace spillway::test::ptx
