#include "tests/support/ptx/lanes.hpp"

#include <stdexcept>

namespace spillway::test::ptx {
namespace {

template <class To, class From>
void resize(void* to_lanes, void const* from_lanes, Lanes mask) {
  auto* const to = static_cast<To*>(to_lanes);
  auto const* const from = static_cast<From const*>(from_lanes);
  alignas(64) To values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<To>(from[lane]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = (mask >> lane & 1) != 0 ? values[lane] : to[lane];
}

template <class From>
void resize_from(void* to, unsigned to_bytes, void const* from, Lanes mask) {
  switch (to_bytes) {
    case 1:
      return resize<std::uint8_t, From>(to, from, mask);
    case 2:
      return resize<std::uint16_t, From>(to, from, mask);
    case 4:
      return resize<std::uint32_t, From>(to, from, mask);
    case 8:
      return resize<std::uint64_t, From>(to, from, mask);
    default:
      throw std::logic_error("lanes of no known width");
  }
}

}  // namespace

void resize_lanes(void* to, unsigned to_bytes, void const* from, unsigned from_bytes,
                  bool is_signed, Lanes mask) {
  if (to_bytes == from_bytes && mask == kAllLanes) {
    std::memcpy(to, from, to_bytes * kLanes);
    return;
  }
  bool const extends = is_signed && to_bytes > from_bytes;
  switch (from_bytes) {
    case 1:
      return extends ? resize_from<std::int8_t>(to, to_bytes, from, mask)
                     : resize_from<std::uint8_t>(to, to_bytes, from, mask);
    case 2:
      return extends ? resize_from<std::int16_t>(to, to_bytes, from, mask)
                     : resize_from<std::uint16_t>(to, to_bytes, from, mask);
    case 4:
      return extends ? resize_from<std::int32_t>(to, to_bytes, from, mask)
                     : resize_from<std::uint32_t>(to, to_bytes, from, mask);
    case 8:
      return resize_from<std::uint64_t>(to, to_bytes, from, mask);
    default:
      throw std::logic_error("lanes of no known width");
  }
}

}  // namespace spillway::test::ptx
