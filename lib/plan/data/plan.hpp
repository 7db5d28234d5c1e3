// A Plan says what happens to every block's saved activations and where every chunk lives.
#pragma once

#include <cstdint>
#include <string>

#include "base/id_vector.hpp"
#include "config/asked_plan.hpp"
#include "graph/graph.hpp"

namespace spillway {

using TierBytes = PerTier<std::int64_t>;

// A fate says what happens to one saved tensor between its last forward and its first backward use.
enum class Fate : std::uint8_t { keep, recompute, host, nvme };
inline constexpr int kFates = 4;

struct Plan {
  IdVector<BlockPlan> blocks;  // one per Graph block; only layers may differ from keep
  IdVector<ChunkPlan> chunks;  // one per Graph chunk
  int prefetch = 1;            // how many blocks ahead of their use things are brought back
  // At most so many elements are brought to an update at once. They are whole pieces of the spill
  // file, because state on NVMe is checked piece by piece.
  std::int64_t update_slice = std::int64_t{4} << 20;
  // Between a memory of the device's own and the drive, bytes go through slots of this size in host
  // memory.
  std::int64_t staging_slot_bytes = std::int64_t{16} << 20;
  bool unified = true;  // device memory is main memory: the host lane works where things lie
  // If true, all updates wait for the norm of the whole gradient, so that any step can be run
  // again. If false, they begin beside the last backward pass, and a transfer that fails ends the
  // run.
  bool redo = true;
  bool operator==(Plan const&) const = default;
};

// Only plans in a normal form are scheduled: only layers leave `keep`, fractions are 1 where
// nothing leaves, and the last layer's activations stay, because their reload would start before
// their write ends.
void normalise(Graph const& graph, Plan& plan);
bool is_normal(Graph const& graph, Plan const& plan);

// Writes the plan with the keys of the input file's `plan` section, so that `plan.file` can read
// it.
std::string to_yaml(Plan const& plan, Graph const& graph);

}  // namespace spillway
