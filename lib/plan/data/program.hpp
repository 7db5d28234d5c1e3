// A Program is one training step (or evaluation): items in a total order, each on a lane, and the
// buffers that they use, each at a fixed place. `schedule`, `layout` and `derive_waits` make it,
// `verify` proves it, `simulate` predicts its time, and the engine runs it.
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

namespace spillway {

using BufferId = std::int32_t;
using ItemNumber = std::int32_t;

enum class Lane : std::uint8_t { compute, h2d, d2h, nvme_read, nvme_write, comm, host };
inline constexpr std::array kLanesInOrder = {
    Lane::compute, Lane::h2d, Lane::d2h, Lane::nvme_read, Lane::nvme_write, Lane::comm, Lane::host};
inline constexpr int kLanes = kLanesInOrder.size();
std::string_view name(Lane lane);
constexpr std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}
template <class T>
using PerLane = EnumArray<Lane, T, kLanes>;
// A serial lane finishes each item before it starts the next. The other lanes start items in order
// and may finish them out of order, but an item counts as finished only once all before it have.
constexpr bool is_serial(Lane lane) {
  return lane == Lane::compute || lane == Lane::comm || lane == Lane::h2d || lane == Lane::d2h;
}

// Returns the lane that copies from one tier to another, or within one.
Lane copy_lane(Tier from, Tier to);

// A part says where in its tensor a buffer's bytes begin. With `of_slice` that is counted from the
// begin of this rank's slice (gradient_slice.hpp), so that all ranks have the same Program; where
// the slice is shorter than the buffer, the rest of the buffer is of no use.
struct Part {
  std::int64_t first = 0;  // byte
  bool of_slice = false;
  bool operator==(Part const&) const = default;
};

// A buffer holds a tensor's bytes. A tensor that is spilled, reloaded or recomputed has several.
struct Buffer {
  BufferId id = -1;
  std::string name;
  TensorId tensor = -1;  // in Program::tensors
  Tier tier = Tier::device;
  std::int64_t bytes = 0;    // of one version; may be less than the tensor has
  Part part = {};            // which bytes of the tensor they are
  std::int64_t offset = -1;  // in the tier's arena; set by layout
  int versions = 1;          // 2: even steps use offset, odd ones offset + stride
  std::int64_t stride = 0;   // bytes from one version to the next; set by layout
  bool persistent = false;   // lives as long as the run (parameters, moments)
  bool spanning = false;     // may carry a value from one segment into another (gradients, scalars)
  bool operator==(Buffer const&) const = default;
};

enum class ItemKind : std::uint8_t {
  op,          // runs Program::ops[op]; operands: its inputs, outputs, workspace
  load_batch,  // fills the batch buffers (operands) of the next micro-batch
  copy,  // between tiers; operands: source, destination. A write-back of state has the control
         // words as a third one and moves nothing unless the step was committed
  all_to_all,  // sends every rank its slice; operands: a chunk's gradient, parts [ranks, slice]
  all_gather,  // collects the ranks' slices; operands: the chunk's gradient, twice. Both operands
               // may be the norms instead: the item then completes rows of them (one per chunk),
               // where every rank has filled its own entry
  commit,      // all ranks agree on one word; operands: loss, norms if known by then, control
  report,      // sends norms that were not known at `commit`; operands: loss, norms
};
std::string_view name(ItemKind kind);

inline constexpr BufferId kAbsent = -1;  // an operand that an op does without

// An item uses bytes [first, last) of a buffer. A read names the `writers` whose value it expects
// to find there: none for what was there before step 0, several only where the buffer is
// `spanning`.
struct Access {
  BufferId buffer = -1;
  std::int64_t first = 0, last = 0;
  std::vector<ItemNumber> writers;
  bool operator==(Access const&) const = default;
};

struct Item {
  ItemNumber number = -1;  // its index in Program::items; the same in simulation, trace and errors
  Lane lane = Lane::compute;
  ItemKind kind = ItemKind::op;
  int op = -1;
  int block = -1, chunk = -1;
  int micro_batch = -1;  // its number among those that its segment runs; -1: the step's
  std::vector<BufferId> operands;
  std::vector<Access> reads, writes;
  std::vector<ItemNumber> waits;  // each means the latest time that item ran before this one
  // An item may still run while later ones do; layout assumes that it has ended after item
  // `horizon` (>= number) and then frees what it used. Waits keep the order even if it has not.
  // Numbers from items.size() on mean items of the next step.
  ItemNumber horizon = -1;
  bool operator==(Item const&) const = default;
};

// A segment is items [first, last); a step runs segments in the order of `segment_sequence`.
struct Segment {
  std::string name;  // first, middle, last or update; with one micro-batch there is only `last`
  ItemNumber first = 0, last = 0;
  int micro_batches = 0;  // that it runs at a time; the update: none

  bool is_middle() const { return name == "middle"; }
  bool operator==(Segment const&) const = default;
};

// A rank's step has no more micro-batches, since a run keeps a record of each.
inline constexpr std::int64_t kMostMicroBatches = std::int64_t{1} << 20;

struct Program {
  Purpose purpose = Purpose::train;
  std::int64_t micro_batches = 1;  // per step and rank
  std::int64_t ranks = 1;
  bool once = false;       // runs a single time; then it may overwrite state that it has read
  bool redo = true;        // a step whose transfers fail is not committed and can be run again
  TierBytes peak_bytes{};  // arena size per tier
  TierBytes persistent_bytes{};  // the part of peak_bytes that lives as long as the run
  IdVector<Segment> segments;
  IdVector<Item> items;
  IdVector<Buffer> buffers;
  IdVector<Tensor> tensors;  // the graph's, then those the schedule needs
  IdVector<Op> ops;          // the graph's, then those the schedule needs
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
// Says whether items of this kind are about a tensor or an op; the others are about a whole step.
constexpr bool concerns_tensor(ItemKind kind) {
  return kind != ItemKind::load_batch && kind != ItemKind::commit && kind != ItemKind::report;
}

// Says how often a step runs a segment: n - 2 times if it is `middle`, else once.
std::int64_t times_a_step(Program const& program, Segment const& segment);
// Returns indices into Program::segments for one step: first, middle x (n - 2), last, update;
// `middle` at most `most_middles` times.
std::vector<int> segment_sequence(
    Program const& program, std::int64_t most_middles = std::numeric_limits<std::int64_t>::max());
// Sums up the bytes that an item writes: what a copy or a message moves.
std::int64_t written_bytes(Item const& item);
// Names an item's kind and what it is about: "copy h.3/attn", "matmul h.3/fc", "commit".
std::string what(Program const& program, Item const& item);
// Names an item in errors, traces and explanations: "item 41 nvme_write copy h.3/attn (42 MiB)".
std::string describe(Program const& program, ItemNumber item);

}  // namespace spillway
