// Estimates how many bytes come and go at each station of a step under one Plan.
#pragma once

#include <vector>

#include "plan/search/block_shape.hpp"

namespace spillway {

// StationBytes leaves out state, and activations away from the device, which stay for a whole step.
struct StationBytes {
  TierBytes most{};
  // `on_device` holds the bytes in the pass of each member at each station, in the order in which
  // they pass, and in the update.
  IdVector<std::int64_t> on_device;
};
// Estimates the bytes of each station if so many micro-batches walk together. The shape must be of
// the grain `whole`.
StationBytes station_bytes(BlockShape const& shape, int members);

}  // namespace spillway
