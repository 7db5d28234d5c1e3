// A Plan says what happens to every block's saved activations and in which tier every chunk lies.
#pragma once

#include <cstdint>
#include <optional>
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
  IdVector<BlockPlan> blocks;  // the policy of each block; only layers may have another than `keep`
  IdVector<ChunkPlan> chunks;  // where each chunk's tensors lie and where the chunk is updated
  int prefetch = 1;            // how many stations before its use a tensor is brought
  std::int64_t group = 1;      // how many micro-batches walk together (see schedule/tell_step.hpp)
  // This many ranks, which are those of a node, keep a copy together of what is shared out. The
  // number 0 means that all ranks do.
  std::int64_t sharers = 0;
  // An update works on at most this many elements at a time. The number fills whole pieces of the
  // spill file, because state on NVMe is checked piece by piece.
  std::int64_t update_slice = std::int64_t{4} << 20;
  // If the device has its own memory, bytes on their way between it and the drive pass through host
  // memory, in pieces of at most this size.
  std::int64_t staging_piece_bytes = std::int64_t{16} << 20;
  bool unified = true;  // true if device memory is main memory, which the host lane uses directly
  // If true, all updates wait for the norm of the whole gradient, so that any step can be run
  // again. If false, updates begin during the last backward pass, and a failed transfer ends the
  // run.
  bool redo = true;
  // Without redo, so many of a hundred chunks that the host updates are updated as soon as their
  // gradients are complete. The others follow behind the backward pass, in the order in which the
  // next forward pass needs them: what it needs first has its gradient last, and would else wait
  // for all others (AutoHete's priorities, arXiv:2503.01890).
  std::int64_t early = 100;
  // If the device has its own memory, ranks exchange copies of gradients in host memory. If true,
  // these stay there while the next ones come and are summed, so that no exchange waits for the
  // bytes of another; if false, host memory holds fewer of them.
  bool exchanges_overlap = true;
  bool operator==(Plan const&) const = default;
};

// Plans that differ have different hashes but for one pair in 2^64.
std::uint64_t hash_of(Plan const& plan);

// Returns which ranks share out chunks, or nothing if they share out none.
std::optional<ShardRanks> shard_ranks(Plan const& plan);
// Returns whether all updates of the plan come behind the backward pass (see Plan::redo): those on
// the host do if the norm is awaited, and all others always do.
bool updates_come_last(Plan const& plan, bool norm_is_awaited);
// Returns whether any parameters must be brought to the device for their uses.
bool fetches_parameters(Plan const& plan);
bool fetches_parameters(ChunkPlan const& chunk);

// Returns whether ranks may share out the chunk. They may not if its update needs whole parameters,
// or if they sum gradients after every micro-batch and ops use the chunk's parameters twice, since
// a part of a gradient has other slices than the chunk.
bool may_share_out(Graph const& graph, int chunk);
// Returns whether the sum of the chunk's gradients may have its home on the drive. It is then added
// to on the device alone, and goes home when it is whole, so it may not if ranks sum gradients
// after every micro-batch, or if parts of a gradient wait for each other.
bool may_sum_on_drive(Graph const& graph, int chunk);

// Makes the plan normal: only layers have another policy than `keep`, fractions are 1 where nothing
// leaves the device, and the last layer's activations stay, because their reload would start before
// their write ends. Ranks share out only chunks that are trained. Gradients that may not have their
// home on the drive have it on the device.
void normalise(Graph const& graph, Plan& plan);
bool is_normal(Graph const& graph, Plan const& plan);
// Returns how many of `ranks` ranks keep a copy together of what the plan shares out.
std::int64_t sharers_of(Plan const& plan, std::int64_t ranks);
// Returns the plan as so many ranks follow it: where a rank would share with nobody, nothing is
// shared out, and `sharers` is 0 if all ranks do. It must divide `ranks`.
Plan for_ranks(Plan plan, std::int64_t ranks);

// Returns the plan as YAML with the keys of the input file's `plan` section. Another input file can
// name a file with this text under its key `plan.file`.
std::string to_yaml(Plan const& plan, Graph const& graph);

}  // namespace spillway
