// These functions estimate the bytes that come and go in a step under one Plan.
#pragma once

#include <vector>

#include "plan/search/block_shape.hpp"

namespace spillway {

// Does not count state and activations that are away, since they take bytes for the whole step.
struct StationBytes {
  TierBytes most{};
  IdVector<std::int64_t>
      on_device;  // bytes during each station's pass; the last entry is the update
};
// The shape must be of the grain `whole`.
StationBytes station_bytes(BlockShape const& shape);

}  // namespace spillway
