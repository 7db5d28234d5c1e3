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

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/spelling.hpp"

namespace spillway {

using BufferId = std::int32_t;
using ItemNumber = std::int32_t;

enum class Lane : std::uint8_t { compute, h2d, d2h, nvme_read, nvme_write, comm, host };
inline constexpr std::array kLanesInOrder = {
    Lane::compute, Lane::h2d, Lane::d2h, Lane::nvme_read, Lane::nvme_write, Lane::comm, Lane::host};
inline constexpr int kLanes = kLanesInOrder.size();
constexpr std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}
constexpr std::string_view name(Lane lane) {
  return kWords<Lane>[index(lane)];
}
template <class T>
using PerLane = EnumArray<Lane, T, kLanes>;
// A serial lane finishes each item before it starts the next one. The other lanes start items in
// order and may finish them out of order, but there an item counts as finished only after all
// before it.
constexpr bool is_serial(Lane lane) {
  return lane == Lane::compute || lane == Lane::comm || lane == Lane::h2d || lane == Lane::d2h;
}

// Returns the lane that copies bytes from tier `from` to tier `to`, which may be the same tier.
Lane copy_lane(Tier from, Tier to);

// A part says where in its tensor a buffer's bytes begin. If `of_slice` is true, `first` counts
// from the begin of this rank's slice (gradient_slice.hpp), so that all ranks have the same
// Program. If that slice is shorter than the buffer, the rest of the buffer is unused.
struct Part {
  std::int64_t first = 0;  // offset in bytes
  bool of_slice = false;
  bool operator==(Part const&) const = default;
};

// A buffer holds a tensor's bytes. A tensor that is spilled, reloaded or recomputed has several.
struct Buffer {
  BufferId id = -1;
  std::string name;
  TensorId tensor = -1;  // index in Program::tensors
  Tier tier = Tier::device;
  std::int64_t bytes = 0;    // size of one version; may be less than the tensor's size
  Part part = {};            // says which bytes of the tensor the buffer holds
  std::int64_t offset = -1;  // offset in the tier's arena, which layout sets
  int versions = 1;          // if 2, even steps use offset, and odd steps use offset + stride
  std::int64_t stride = 0;   // distance in bytes between the versions, which layout sets
  bool persistent = false;   // true if it lives as long as the run (parameters, moments)
  bool spanning = false;     // true if its value may outlive its segment (gradients, scalars)
  bool reserved = false;     // true if no other buffer may use its bytes during a step (rings)
  bool operator==(Buffer const&) const = default;
};

enum class ItemKind : std::uint8_t {
  op,          // runs Program::ops[op]; its operands are inputs, outputs and workspace
  load_batch,  // fills its operands, the batch buffers, for the next micro-batch
  // Copies bytes between tiers; its operands are source and destination. A copy that takes changed
  // state back has the control words as a third operand and moves nothing unless the step was
  // committed.
  copy,
  all_to_all,  // sends every rank its slice; operands: a chunk's gradient, parts [ranks, slice]
  // Collects the slices of all ranks; both operands are the chunk's gradient. Both may be the norms
  // instead: the item then completes their rows (one per chunk), in which every rank has filled its
  // own entry.
  all_gather,
  commit,  // lets all ranks agree how the step ends; operands: loss, norms if known, control
  report,  // sends norms that were unknown at the `commit`; its operands are loss and norms
};
constexpr std::string_view name(ItemKind kind) {
  return kWords<ItemKind>[static_cast<std::size_t>(kind)];
}

inline constexpr BufferId kAbsent = -1;  // marks an operand that an op does not have

// An access says that an item uses bytes [first, last) of a buffer. For a read, `writers` are the
// items whose value it expects to find there. It has no writers if the value is from before step 0,
// and several only if the buffer is `spanning`.
struct Access {
  BufferId buffer = -1;
  std::int64_t first = 0, last = 0;
  std::vector<ItemNumber> writers;
  bool operator==(Access const&) const = default;
};

struct Item {
  ItemNumber number = -1;  // index in Program::items, which simulation, traces and errors use too
  Lane lane = Lane::compute;
  ItemKind kind = ItemKind::op;
  int op = -1;
  int block = -1, chunk = -1;
  int micro_batch = -1;  // number of the micro-batch in its segment; -1 for items of a whole step
  std::vector<BufferId> operands;
  std::vector<Access> reads, writes;
  std::vector<ItemNumber> waits;  // items to wait for; each means its latest earlier instance
  // Layout assumes that the item has ended after item `horizon` (>= number) and then reuses its
  // bytes. If the item still runs at that time, waits keep the order. Numbers from items.size() on
  // mean items of the next step.
  ItemNumber horizon = -1;
  bool operator==(Item const&) const = default;
};

// A segment consists of items [first, last). `segment_sequence` says how a step runs segments.
struct Segment {
  std::string name;  // first, middle, last or update; a single micro-batch is the `last` one
  ItemNumber first = 0, last = 0;
  int micro_batches = 0;  // number of micro-batches that it runs at a time; 0 for the update

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
  std::int64_t micro_batches = 1;  // number of micro-batches in a step of one rank
  std::int64_t ranks = 1;
  bool once = false;       // if true, it runs only once and may overwrite state that it has read
  bool redo = true;        // if true, a step with a failed transfer is not committed and runs again
  TierBytes peak_bytes{};  // size of the arena in each tier
  TierBytes persistent_bytes{};  // the part of peak_bytes that lives as long as the run
  IdVector<Segment> segments;
  IdVector<Item> items;
  IdVector<Buffer> buffers;
  IdVector<Tensor> tensors;  // the graph's tensors, then others that the schedule needs
  IdVector<Op> ops;          // the graph's ops, then others that the schedule needs
  IdVector<Chunk> chunks;
  WellKnown known;
  Arithmetic arithmetic;
  bool operator==(Program const&) const = default;
};

// Lists an item's reads, then its writes.
inline auto accesses(Item const& item) {
  auto const at = [&item](std::size_t i) -> Access const& {
    return i < item.reads.size() ? item.reads[i] : item.writes[i - item.reads.size()];
  };
  return std::views::iota(std::size_t{0}, item.reads.size() + item.writes.size()) |
         std::views::transform(at);
}
// Says whether items of this kind concern a tensor or an op, not a whole batch or step.
constexpr bool concerns_tensor(ItemKind kind) {
  return kind != ItemKind::load_batch && kind != ItemKind::commit && kind != ItemKind::report;
}

// Returns how often a step runs a segment: n - 2 times if it is `middle`, otherwise once.
std::int64_t times_a_step(Program const& program, Segment const& segment);
// Returns the indices in Program::segments of the segments that one step of n micro-batches runs:
// first, n - 2 times middle, last, update. The result has `middle` at most `most_middles` times.
std::vector<int> segment_sequence(
    Program const& program, std::int64_t most_middles = std::numeric_limits<std::int64_t>::max());
// Returns the sum of the bytes that an item writes, which is also what a copy or a message moves.
std::int64_t written_bytes(Item const& item);
// Returns an item's kind and the name of what it works on, for example "copy h.3/attn", "matmul
// h.3/fc" or "commit".
std::string what(Program const& program, Item const& item);
// Describes an item in errors and traces, for example "item 41 nvme_write copy h.3/attn (42 MiB)".
std::string describe(Program const& program, ItemNumber item);

}  // namespace spillway
