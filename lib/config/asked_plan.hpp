// Defines what a user may ask of a plan, and the tiers that a plan gives to a chunk.
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

// A ChunkPlan says in which tiers the values of a chunk lie between their uses. Values that a lane
// cannot reach are copied to a tier that it reaches and, if changed, copied back.
struct ChunkPlan {
  Tier parameters = Tier::device;
  Tier gradients = Tier::device;
  Tier optimizer = Tier::device;  // of remainder and moments
  Tier update = Tier::device;     // host if the host lane runs AdamW, else device
  Shard shard = Shard::none;      // with one rank nothing is shared out, whatever it says
  bool operator==(ChunkPlan const&) const = default;
};

// An Asked is a list, never empty, of what a user asks for the layers or the chunks, from the first
// one on. Its last entry also holds for all later layers or chunks. An entry without a value means
// `auto`.
template <class T>
using Asked = std::vector<std::optional<T>>;
// Returns the entries as input files write them.
std::vector<std::string> texts(Asked<BlockPlan> const& asked);
std::vector<std::string> texts(Asked<Tier> const& asked);
std::vector<std::string> texts(Asked<Shard> const& asked);

struct AskedPlan {
  Asked<BlockPlan> activations = Asked<BlockPlan>(1);
  Asked<Tier> parameters = Asked<Tier>(1), gradients = Asked<Tier>(1), optimizer = Asked<Tier>(1),
              update = Asked<Tier>(1);
  Asked<Shard> shard = Asked<Shard>(1);        // what ranks share out
  std::optional<ShardRanks> shard_ranks = {};  // which ranks share it out
  std::optional<std::int64_t> prefetch = {};  // how many stations before their use data are fetched
  std::optional<std::int64_t> group = {};     // how many micro-batches walk together
  std::optional<std::int64_t> early = {};     // the percentage of early updates (see Plan::early)
};

// A PlaceRow describes one of the four tiers that a plan chooses for each chunk: those of its
// parameters, gradients and optimizer state, and the tier in which it is updated.
struct PlaceRow {
  std::string_view name;   // the name in input files and plans
  std::string_view title;  // the name in pictures of plans
  Asked<Tier> AskedPlan::*asked;
  Tier ChunkPlan::*place;
  bool nvme;  // whether the tier may be nvme
};
// `update` must come after `optimizer`, because the tier of an update that is `auto` depends on
// where the state lies.
inline constexpr std::array kPlaceTable = {
    PlaceRow{"parameters", "parameters", &AskedPlan::parameters, &ChunkPlan::parameters, true},
    PlaceRow{"gradients", "gradients", &AskedPlan::gradients, &ChunkPlan::gradients, true},
    PlaceRow{"optimizer", "optimizer state", &AskedPlan::optimizer, &ChunkPlan::optimizer, true},
    PlaceRow{"update", "updated by", &AskedPlan::update, &ChunkPlan::update, false},
};

}  // namespace spillway
