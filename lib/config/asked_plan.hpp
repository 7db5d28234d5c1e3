// Defines what a user may ask of a plan, and the places that a plan gives to a chunk.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/block_policy.hpp"
#include "config/choices.hpp"

namespace spillway {

// Says where a chunk's values lie between their uses. Values that a lane cannot reach are brought
// to it in pieces and, if changed, taken back.
struct ChunkPlan {
  Tier parameters = Tier::device;
  Tier gradients = Tier::device;  // may be device or host
  Tier optimizer = Tier::device;  // remainder and moments
  Tier update = Tier::device;     // may be device or host: the lane that runs AdamW
  bool operator==(ChunkPlan const&) const = default;
};

// A list has one entry for each layer or each chunk, from the first one on, and is never empty; its
// last entry also holds for all later layers or chunks. An entry without a value means `auto`.
template <class T>
using Asked = std::vector<std::optional<T>>;
// Returns the entries as input files write them.
std::vector<std::string> texts(Asked<BlockPlan> const& asked);
std::vector<std::string> texts(Asked<Tier> const& asked);

struct AskedPlan {
  Asked<BlockPlan> activations = Asked<BlockPlan>(1);
  Asked<Tier> parameters = Asked<Tier>(1), gradients = Asked<Tier>(1), optimizer = Asked<Tier>(1),
              update = Asked<Tier>(1);
  std::optional<std::int64_t> prefetch = {};  // how many stations ahead data are brought
};

// A PlaceRow describes something that has a place of its own for each chunk: parameters, gradients,
// optimizer state, or the update.
struct PlaceRow {
  std::string_view name;   // used in input files and plans
  std::string_view title;  // used in pictures of plans
  Asked<Tier> AskedPlan::*asked;
  Tier ChunkPlan::*place;
  bool nvme;  // whether the place may be NVMe
};
// Updates come last, because where they are best done follows from where the state lies.
inline constexpr std::array kPlaceTable = {
    PlaceRow{"parameters", "parameters", &AskedPlan::parameters, &ChunkPlan::parameters, true},
    PlaceRow{"gradients", "gradients", &AskedPlan::gradients, &ChunkPlan::gradients, false},
    PlaceRow{"optimizer", "optimizer state", &AskedPlan::optimizer, &ChunkPlan::optimizer, true},
    PlaceRow{"update", "updated by", &AskedPlan::update, &ChunkPlan::update, false},
};

}  // namespace spillway
