// What comes and goes in a step under one Plan, by blocks.
#pragma once

#include <vector>

#include "plan/search/block_model.hpp"

namespace spillway {

// Beside what is there for the whole step: state, and activations that are away.
struct StationBytes {
  TierBytes most{};
  std::vector<std::int64_t> on_device;  // in a station's pass; the last one is the update
};
// `several`: over more than one micro-batch.
StationBytes station_bytes(BlockModel const& model, Plan const& plan, bool several);

}  // namespace spillway
