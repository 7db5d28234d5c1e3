// A Plan: what happens to every block's saved activations and where every chunk lives.
// Small, printable, can be written to a file, read back and forced.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/id_vector.hpp"
#include "config/asked_plan.hpp"

namespace spillway {

using TierBytes = PerTier<std::int64_t>;

// What happens to one saved tensor between its last forward and its first backward use.
enum class Fate : std::uint8_t { keep, recompute, host, nvme };
inline constexpr int kFates = 4;

struct Plan {
  IdVector<BlockPlan> blocks;  // one per Graph block; only layers may differ from keep
  IdVector<ChunkPlan> chunks;  // one per Graph chunk
  int prefetch = 1;            // blocks ahead, of reloads and of parameters
  // Elements brought to an update at once; of state on NVMe, whole pieces of the spill file.
  std::int64_t update_slice = std::int64_t{4} << 20;
  // Of each slot in host memory through which bytes go between a device's own memory and the drive.
  std::int64_t staging_slot_bytes = std::int64_t{16} << 20;
  bool unified = true;  // device memory is main memory: the host lane works where things lie
  // All updates wait for the whole gradient's norm, so that any step can be run again; false: they
  // begin beside the last backward pass, and what fails then ends the run.
  bool redo = true;
  bool operator==(Plan const&) const = default;
};

}  // namespace spillway
