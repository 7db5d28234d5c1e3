// What ranks need not all hold: ZeRO's stages (Rajbhandari et al., arXiv 1910.02054, section 5 and
// 7) as terms of a BlockModel. Estimates only: no Program shards yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/search/block_model.hpp"

namespace spillway {

enum class Shard : std::uint8_t { none, optimizer, gradients, all };
inline constexpr Shard kShards[] = {Shard::none, Shard::optimizer, Shard::gradients, Shard::all};
std::string_view name(Shard shard);

// Of each chunk's optimizer state, of that and its gradient, or of both and its parameters, a rank
// holds 1 / ranks, and updates as much. With `none` it holds all, and only what is sent changes.
void apply(Shard shard, BlockModel& model);

}  // namespace spillway
