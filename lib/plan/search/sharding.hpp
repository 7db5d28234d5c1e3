// Ranks need not all hold everything: ZeRO's stages (Rajbhandari et al., arXiv 1910.02054, sections
// 5 and 7) change the costs of a BlockModel. These are estimates only: no Program shards yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/search/block_model.hpp"

namespace spillway {

enum class Shard : std::uint8_t { none, optimizer, gradients, all };
inline constexpr Shard kShards[] = {Shard::none, Shard::optimizer, Shard::gradients, Shard::all};
std::string_view name(Shard shard);

// Every rank then holds 1 / ranks of each chunk's optimizer state, of that and its gradient, or of
// both and its parameters, and updates as much. With `none` it holds all, and only sends change.
void apply(Shard shard, BlockModel& model);

}  // namespace spillway
