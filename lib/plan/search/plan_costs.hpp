// What a Plan makes of a BlockModel's blocks and chunks.
#pragma once

#include <array>

#include "plan/search/block_model.hpp"

namespace spillway {

// What leaves the device of a block's activations, and stays away until its backward pass.
std::int64_t away_bytes(BlockModel const& model, Plan const& plan, std::size_t block);

// Of a chunk's gradient, parameters and state, what its update must have brought, and taken back,
// by the tier where that lies.
struct Brought {
  Tier workplace = Tier::device;  // where to
  TierBytes bytes{}, back_bytes{};
  std::array<std::int64_t, 3> operand_bytes{};  // gradient, parameters, state
  std::int64_t all_bytes() const;
};
Brought brought(ChunkCost const& chunk, ChunkPlan const& places, bool unified);

// Of the host, for the slots through which bytes go between the device and the drive; 0 where none
// do.
std::int64_t staging_bytes(BlockModel const& model, Plan const& plan);

// Elements of a slice of its update, at least one: see streaming.hpp.
std::int64_t slice_elements(ChunkCost const& chunk, Plan const& plan);

}  // namespace spillway
