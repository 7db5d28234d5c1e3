// The bytes that come and go in a step under one Plan.
#pragma once

#include <vector>

#include "plan/search/block_shape.hpp"

namespace spillway {

// State and activations that are away are there for the whole step, and not counted here.
struct StationBytes {
  TierBytes most{};
  IdVector<std::int64_t> on_device;  // during each station's pass; the last one is the update
};
// `shape` is of the grain `whole`.
StationBytes station_bytes(BlockShape const& shape);

}  // namespace spillway
