// With sharding, a rank does not hold all state. The stages of ZeRO (Rajbhandari et al., arXiv
// 1910.02054, sections 5 and 7) change a BlockModel's costs. No Program can shard yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "plan/search/block_model.hpp"

namespace spillway {

enum class Shard : std::uint8_t { none, optimizer, gradients, all };
inline constexpr Shard kShards[] = {Shard::none, Shard::optimizer, Shard::gradients, Shard::all};
std::string_view name(Shard shard);

// Divides each chunk's optimizer state by the number of ranks. `gradients` also divides its
// gradient, and `all` also divides its parameters. A rank updates only its own share. `none`
// divides nothing, and changes only what ranks send.
void apply(Shard shard, BlockModel& model);

}  // namespace spillway
