// A Plan: what happens to every block's saved activations and where every chunk lives.
// Small, printable, can be written to a file, read back and forced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

enum class Tier : std::uint8_t { device, host, nvme };
inline constexpr int kTiers = 3;
std::string_view name(Tier tier);

// What happens to one saved tensor between its last forward and its first backward use.
enum class Fate : std::uint8_t { keep, recompute, host, nvme };

// Names a set of fates for a block's saved tensors.
enum class BlockPolicy : std::uint8_t { keep, light, recompute, host, nvme, light_nvme };
std::string_view name(BlockPolicy policy);
BlockPolicy block_policy(std::string_view text);  // throws std::invalid_argument

struct BlockPlan {
  BlockPolicy policy = BlockPolicy::keep;
  double fraction = 1;  // of the rows that leave the device
  bool operator==(BlockPlan const&) const = default;
};

struct ChunkPlan {
  Tier parameters = Tier::device, gradients = Tier::device, optimizer = Tier::device;
  Tier update = Tier::device;  // device or host: which lane runs AdamW
  bool resident = true;        // else streamed through buffers
  bool sharded = false;
  bool operator==(ChunkPlan const&) const = default;
};

struct Plan {
  std::vector<BlockPlan> blocks;  // one per Graph block; only layers may differ from keep
  std::vector<ChunkPlan> chunks;  // one per Graph chunk
  int prefetch = 1;               // blocks ahead
  bool redo = true;               // an uncommitted step can be run again
  bool operator==(Plan const&) const = default;
};

}  // namespace spillway
