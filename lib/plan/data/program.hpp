// A Program describes one training step, or one evaluation. It has items in a total order, each on
// a lane, and the buffers that the items use, each at a fixed place. `schedule`, `layout` and
// `derive_waits` make it, `verify` proves it, `simulate` predicts its time, and the engine runs it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/spelling.hpp"
#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

using BufferId = std::int32_t;
using ItemNumber = std::int32_t;

enum class Lane : std::uint8_t { compute, h2d, d2h, nvme_read, nvme_write, comm, host, data };
inline constexpr std::array kLanesInOrder = {Lane::compute,   Lane::h2d,        Lane::d2h,
                                             Lane::nvme_read, Lane::nvme_write, Lane::comm,
                                             Lane::host,      Lane::data};
inline constexpr int kLanes = kLanesInOrder.size();
constexpr std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}
constexpr std::string_view name(Lane lane) {
  return word(lane);
}
template <class T>
using PerLane = EnumArray<Lane, T, kLanes>;
// A serial lane finishes each item before it starts the next one. Any other lane starts items in
// order and may finish them out of order, but an item counts as finished only after all earlier
// ones.
constexpr bool is_serial(Lane lane) {
  return lane == Lane::compute || lane == Lane::comm || lane == Lane::h2d || lane == Lane::d2h ||
         lane == Lane::data;
}

// Returns the lane that copies bytes from tier `from` to tier `to`, which may be the same tier.
Lane copy_lane(Tier from, Tier to);

// A Buffer holds bytes of a tensor. A tensor that is spilled, reloaded or recomputed has several.
struct Buffer {
  BufferId id = -1;
  std::string name;
  TensorId tensor = -1;  // the tensor's index in Program::tensors
  Tier tier = Tier::device;
  std::int64_t bytes = 0;    // the size of one version, which may be a part of the tensor
  std::int64_t offset = -1;  // the offset in the tier's arena, which layout sets
  int versions = 1;          // With 2 versions, odd steps use the bytes at offset + stride.
  std::int64_t stride = 0;   // the distance in bytes between versions, which layout sets
  bool persistent = false;   // true if the bytes are kept for the whole run, like parameters
  bool spanning = false;     // true if a value may outlive its segment, as gradients do
  bool reserved = false;  // true if no other buffer may use the bytes during a step, as for rings
  bool operator==(Buffer const&) const = default;
};

enum class ItemKind : std::uint8_t {
  op,          // The item runs Program::ops[op] on its operands: inputs, outputs and workspace.
  load_batch,  // The item fills its operands, the batch buffers, for the next micro-batch.
  // The item copies bytes from its first operand to its second one. A copy that takes changed state
  // back has the control words as a third operand and moves nothing unless the step was committed.
  copy,
  all_to_all,  // Each rank gets all values of its slice; operands are the gradient and the values.
  // Each rank gets all slices of a chunk's gradient, which both operands are then, or of its
  // parameters; the first operand may be the rank's slice alone. If both operands are norms, each
  // rank gets the norms that other ranks have for their slices. A gather behind an update has the
  // control words as a third operand, as a copy back has.
  all_gather,
  commit,  // Ranks decide how the step ends; operands are loss, known norms, control words.
  report,  // Ranks learn norms that the commit did not know; operands are loss and norms.
};
constexpr std::string_view name(ItemKind kind) {
  return word(kind);
}

inline constexpr BufferId kAbsent = -1;  // This id means that an op does without the operand.

// A ByteRange consists of the bytes [first, last) of a buffer or of an arena.
struct ByteRange {
  std::int64_t first = 0, last = 0;
};

// An Access says that an item uses bytes [first, last) of a buffer. The `writers` of a read are the
// items whose values the read expects to find there. A value from before step 0 has no writer.
struct Access {
  BufferId buffer = -1;
  std::int64_t first = 0, last = 0;
  std::vector<ItemNumber> writers;
  bool operator==(Access const&) const = default;
};

struct Item {
  ItemNumber number = -1;  // the item's index in Program::items, which traces and errors use too
  Lane lane = Lane::compute;
  ItemKind kind = ItemKind::op;
  int op = -1;
  int block = -1, chunk = -1;
  int micro_batch = -1;  // the number of the item's micro-batch in the segment; -1 if it has none
  std::vector<BufferId> operands;
  std::vector<Access> reads, writes;
  std::vector<ItemNumber> waits;  // the latest earlier instances of these items must have ended
  // Layout assumes that the item has ended after item `horizon` (>= number) and then reuses the
  // bytes that the item uses. If the item still runs at that time, waits keep the order. Numbers
  // from items.size() on mean items of the next step.
  ItemNumber horizon = -1;
  bool operator==(Item const&) const = default;
};

// A Segment consists of the items [first, last). `segment_sequence` says how a step runs segments.
struct Segment {
  std::string name;  // first, middle, last, update, forward or move; a lone segment is `last`
  ItemNumber first = 0, last = 0;
  int micro_batches = 0;  // how many micro-batches the segment runs at a time; 0 for the update

  bool is_middle() const { return name == "middle"; }
  bool operator==(Segment const&) const = default;
};

// The spill file has a checksum for each piece of this size, so a part of a buffer on NVMe begins
// and ends where pieces do.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

// A rank's step has at most this many micro-batches, because a run keeps a record of each one.
inline constexpr std::int64_t kMostMicroBatches = std::int64_t{1} << 20;

struct Program {
  Purpose purpose = Purpose::train;
  std::int64_t micro_batches = 1;  // the number of micro-batches that a rank has in a step
  std::int64_t ranks = 1;
  bool once = false;       // true if the Program runs once and may overwrite state that it has read
  bool redo = true;        // true if a step with a failed transfer is not committed but run again
  bool unified = true;     // true if the Program is for a device whose memory is main memory
  TierBytes peak_bytes{};  // Each tier's arena has this size.
  TierBytes persistent_bytes{};  // the part of peak_bytes that persistent buffers take
  IdVector<Segment> segments;
  IdVector<Item> items;
  IdVector<Buffer> buffers;
  IdVector<Tensor> tensors;  // the tensors of the graph, then others that the schedule adds
  IdVector<Op> ops;          // the ops of the graph, then others that the schedule adds
  IdVector<Chunk> chunks;
  WellKnown known;
  Arithmetic arithmetic;
  bool operator==(Program const&) const = default;
};

// Returns an item's reads, followed by its writes.
inline auto accesses(Item const& item) {
  auto const at = [&item](std::size_t i) -> Access const& {
    return i < item.reads.size() ? item.reads[i] : item.writes[i - item.reads.size()];
  };
  return std::views::iota(std::size_t{0}, item.reads.size() + item.writes.size()) |
         std::views::transform(at);
}
// Returns whether an item of this kind works on tensors or ops, not on a whole batch or step.
constexpr bool concerns_tensor(ItemKind kind) {
  return kind != ItemKind::load_batch && kind != ItemKind::commit && kind != ItemKind::report;
}

// Returns how often a step runs a segment: once or, if it is `middle`, as often as is needed for
// the micro-batches that no other segment runs.
std::int64_t times_a_step(Program const& program, Segment const& segment);
// Returns the largest number of micro-batches that walk together in a segment, at least 1.
int most_together(Program const& program);
// Returns the indices in Program::segments of the segments that one step runs: first, middle as
// often as needed, last, update. The result has `middle` at most `most_middles` times.
std::vector<int> segment_sequence(
    Program const& program, std::int64_t most_middles = std::numeric_limits<std::int64_t>::max());
// Returns the sum of the bytes that an item writes, which is also what a copy or a message moves.
std::int64_t written_bytes(Item const& item);
// Returns an item's kind and the name of what it works on, for example "copy h.3/attn", "matmul
// h.3/fc" or "commit".
std::string what(Program const& program, Item const& item);
// Returns a text for errors and traces such as "item 41 nvme_write copy h.3/attn (42 MiB)".
std::string describe(Program const& program, ItemNumber item);

}  // namespace spillway
