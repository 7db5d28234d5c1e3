// Main memory is pinned at the start of a run, so that a device can copy from and to it.
#pragma once

#include <fmt/core.h>

#include <compare>
#include <cstdint>
#include <string>

#include "base/units.hpp"

namespace spillway {

struct Pinning {
  std::int64_t bytes = 0;
  double seconds = 0;  // how long pinning took
  auto operator<=>(Pinning const&) const = default;
};

// Returns a line such as "pinning 12 GiB of main memory took 3.4 s (0.28 s a GiB)".
inline std::string describe(Pinning const& pinning) {
  auto const gib = static_cast<double>(pinning.bytes) / static_cast<double>(std::int64_t{1} << 30);
  return fmt::format("pinning {} of main memory took {} s ({} s a GiB)", human_bytes(pinning.bytes),
                     human_number(pinning.seconds, 2), human_number(pinning.seconds / gib, 2));
}

}  // namespace spillway
