// A Plan: what happens to every block's saved activations and where every chunk lives.
// Small, printable, can be written to a file, read back and forced.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

enum class Tier : std::uint8_t { device, host, nvme };
inline constexpr int kTiers = 3;
inline constexpr std::array kTiersInOrder = {Tier::device, Tier::host, Tier::nvme};
std::string_view name(Tier tier);
constexpr std::size_t index(Tier tier) {
  return static_cast<std::size_t>(tier);
}
using TierBytes = std::array<std::int64_t, kTiers>;

// What happens to one saved tensor between its last forward and its first backward use.
enum class Fate : std::uint8_t { keep, recompute, host, nvme };
inline constexpr int kFates = 4;

// Names a set of fates for a block's saved tensors. `light`: what is cheap to make is made again,
// the rest is kept or leaves.
enum class BlockPolicy : std::uint8_t {
  keep,
  light,
  recompute,
  host,
  nvme,
  light_host,
  light_nvme
};
inline constexpr int kPolicies = 7;
constexpr std::size_t index(BlockPolicy policy) {
  return static_cast<std::size_t>(policy);
}
std::string_view name(BlockPolicy policy);
BlockPolicy block_policy(std::string_view text);  // throws std::invalid_argument
// Where the saved tensors go that are not made again; empty: they stay.
std::optional<Tier> away_tier(BlockPolicy policy);
bool is_light(BlockPolicy policy);
// The same, but nothing leaves.
BlockPolicy staying(BlockPolicy policy);

struct BlockPlan {
  BlockPolicy policy = BlockPolicy::keep;
  double fraction = 1;  // of the rows that leave the device
  bool operator==(BlockPlan const&) const = default;
};

// Where a chunk's values lie between their uses. What a lane cannot reach is brought to it in
// pieces and, if changed, taken back.
struct ChunkPlan {
  Tier parameters = Tier::device;
  Tier gradients = Tier::device;  // device or host
  Tier optimizer = Tier::device;  // remainder and moments
  Tier update = Tier::device;     // device or host: which lane runs AdamW
  bool operator==(ChunkPlan const&) const = default;
};

struct Plan {
  std::vector<BlockPlan> blocks;  // one per Graph block; only layers may differ from keep
  std::vector<ChunkPlan> chunks;  // one per Graph chunk
  int prefetch = 1;               // blocks ahead, of reloads and of parameters
  // Elements brought to an update at once; of state on NVMe, whole pieces of the spill file.
  std::int64_t update_slice = std::int64_t{4} << 20;
  bool unified = true;  // device memory is main memory: the host lane works where things lie
  // All updates wait for the whole gradient's norm, so that any step can be run again; false: they
  // begin beside the last backward pass, and what fails then ends the run.
  bool redo = true;
  bool operator==(Plan const&) const = default;
};

}  // namespace spillway
