// An AddressRange names bytes of any memory by their address. Bytes of a device have the addresses
// that callers of CUDA know, which trap if the host touches them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace spillway::test::cuda {

struct AddressRange {
  std::uintptr_t first = 0;
  std::int64_t bytes = 0;

  std::uintptr_t last() const { return first + static_cast<std::uintptr_t>(bytes); }
  bool holds(AddressRange const& other) const {
    return first <= other.first && other.last() <= last();
  }
  bool overlaps(AddressRange const& other) const {
    return first < other.last() && other.first < last();
  }
  bool operator==(AddressRange const&) const = default;
};

inline AddressRange range_of(void const* address, std::int64_t bytes) {
  return {reinterpret_cast<std::uintptr_t>(address), bytes};
}

// Returns the bytes that both ranges have in common, or an empty range.
inline AddressRange common(AddressRange const& a, AddressRange const& b) {
  auto const first = std::max(a.first, b.first), last = std::min(a.last(), b.last());
  return {first, last > first ? static_cast<std::int64_t>(last - first) : 0};
}

}  // namespace spillway::test::cuda
