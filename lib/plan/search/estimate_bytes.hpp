// Estimates how many bytes come and go at each station of a step under one Plan.
#pragma once

#include <vector>

#include "plan/search/block_shape.hpp"

namespace spillway {

// StationBytes leaves out state, and activations away from the device, which stay for a whole step.
struct StationBytes {
  TierBytes most{};
  int members = 1;  // how many micro-batches walk together
  // `on_device` holds the bytes in the pass of each member at each station, in the order in which
  // they pass, and in the update.
  IdVector<std::int64_t> on_device;

  std::int64_t at(Station const& station) const {
    return on_device[station.number * members + station.batch.member];
  }
};
// A WalkedGroup says how many micro-batches walk together, and whether they are the first and the
// last ones of a step.
struct WalkedGroup {
  int members = 1;
  bool begins_step = true, ends_step = true;
};
// Estimates the bytes of each station. The shape must be of the grain `whole`. Updates have bytes
// only where the group ends the step.
StationBytes station_bytes(BlockShape const& shape, WalkedGroup const& group);
// Estimates what the station or update with most bytes has of each tier. This takes no longer for
// many micro-batches that walk together than for three, unless ranks sum gradients of each.
TierBytes most_bytes(BlockShape const& shape, WalkedGroup const& group);

}  // namespace spillway
