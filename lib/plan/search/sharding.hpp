// With sharding, each rank holds only a part of the state, as in the stages of ZeRO (Rajbhandari et
// al., arXiv 1910.02054, sections 5 and 7). Costs are estimated, but no Program can shard yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/search/block_model.hpp"

namespace spillway {

enum class Shard : std::uint8_t { none, optimizer, gradients, all };
inline constexpr Shard kShards[] = {Shard::none, Shard::optimizer, Shard::gradients, Shard::all};
std::string_view name(Shard shard);

// Gives the model the costs of sharding. Ranks divide each chunk's optimizer state, for `gradients`
// also its gradient, and for `all` also its parameters. For `none` they divide nothing, and only
// the bytes that they send are set.
void apply(Shard shard, BlockModel& model);

}  // namespace spillway
