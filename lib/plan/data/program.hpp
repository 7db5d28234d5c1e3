// A Program: one training step (or evaluation) as totally ordered items on lanes, over buffers
// whose tier, offset and lifetime are fixed. Made by schedule + layout + derive_waits, proved by
// verify, timed by simulate, run by the engine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

using BufferId = std::int32_t;
using ItemNumber = std::int32_t;

enum class Lane : std::uint8_t { compute, h2d, d2h, nvme_read, nvme_write, comm, host };
inline constexpr int kLanes = 7;
std::string_view name(Lane lane);
constexpr std::size_t index(Lane lane) {
  return static_cast<std::size_t>(lane);
}
template <class T>
using PerLane = EnumArray<Lane, T, kLanes>;
// A serial lane finishes each item before it starts the next. Others start in order but may finish
// out of it; they publish completion as a prefix all the same.
constexpr bool is_serial(Lane lane) {
  return lane == Lane::compute || lane == Lane::comm || lane == Lane::h2d || lane == Lane::d2h;
}

// The lane of a copy between two tiers, or within one: that which leads there.
Lane copy_lane(Tier from, Tier to);

// One residence of a tensor's bytes: a tensor that is spilled, reloaded or recomputed has several.
struct Buffer {
  BufferId id = -1;
  std::string name;
  TensorId tensor = -1;  // in Program::tensors
  Tier tier = Tier::device;
  std::int64_t bytes = 0;    // of one version; fewer than the tensor's: its first ones
  std::int64_t offset = -1;  // in the tier's arena; set by layout
  int versions = 1;          // 2: the step's parity picks offset or offset + stride
  std::int64_t stride = 0;   // bytes from one version to the next; set by layout
  bool persistent = false;   // lives as long as the run (parameters, moments)
  bool spanning = false;     // may carry a value from one segment into another (gradients, scalars)
  bool operator==(Buffer const&) const = default;
};

enum class ItemKind : std::uint8_t {
  op,          // runs Program::ops[op]; operands: its inputs, outputs, workspace
  load_batch,  // fills the batch buffers (operands) of the next micro-batch
  copy,        // between tiers; operands: source, destination; a write-back of state names the
               // control words too, and moves only what a committed step has made
  all_to_all,  // operands: a chunk's gradient, parts [ranks, slice]
  all_gather,  // operands: the chunk's gradient, of which every rank has its slice; the same. Both
               // may instead be the norms: the item then writes whole rows of them, a chunk each,
               // of which every rank has filled its own entry
  commit,      // all ranks agree on one word; operands: loss, norms if known by then, control
  report,      // of norms that were not; operands: loss, norms
};
std::string_view name(ItemKind kind);

inline constexpr BufferId kAbsent = -1;  // an operand that an op does without

// Bytes [first, last) of a buffer. `writers`: the items whose value a read expects to find there
// (several only for buffers that span segments; empty: what was there before step 0).
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
  std::vector<BufferId> operands;
  std::vector<Access> reads, writes;
  std::vector<ItemNumber> waits;  // for the latest instance of each before this one
  // Layout frees what this item alone still uses after item `horizon` (>= number): what is
  // asynchronous is expected to be done by then. Waits hold even if it is not. Numbers from
  // items.size() on mean the next step's items.
  ItemNumber horizon = -1;
  bool operator==(Item const&) const = default;
};

// Items [first, last) of Program::items. Segments run in the order of `segment_sequence`.
struct Segment {
  std::string name;  // first | middle | last | update; `last` alone for one micro-batch
  ItemNumber first = 0, last = 0;

  bool is_middle() const { return name == "middle"; }
  bool operator==(Segment const&) const = default;
};

// Of a step and rank. Planning takes no longer for more, but a run keeps a record of each.
inline constexpr std::int64_t kMostMicroBatches = std::int64_t{1} << 20;

struct Program {
  Purpose purpose = Purpose::train;
  std::int64_t micro_batches = 1;  // per step and rank
  std::int64_t ranks = 1;
  bool once = false;       // runs a single time, and state may be overwritten that was read before
  bool redo = true;        // a step whose transfers fail is not committed and can be run again
  TierBytes peak_bytes{};  // arena size per tier
  TierBytes persistent_bytes{};  // of it, what lives as long as the run
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

// How often a step runs a segment: n - 2 times where it is `middle`, else once.
std::int64_t times_a_step(Program const& program, Segment const& segment);
// Indices into Program::segments for one step: first, middle x (n - 2), last, update.
std::vector<int> segment_sequence(Program const& program);
// The same with `middle` at most so often.
std::vector<int> segment_sequence(Program const& program, std::int64_t most_middles);
// The same with `middle` at most twice: what a proof over all instances needs.
std::vector<int> proof_sequence(Program const& program);
// Of all its buffers; what a copy or a message moves.
std::int64_t written_bytes(Item const& item);
// "copy h.3/attn", "matmul h.3/fc", "commit": its kind and what it is about.
std::string what(Program const& program, Item const& item);
// "item 41 nvme_write copy h.3/attn (42 MiB)": how errors, traces and explanations name an item.
std::string describe(Program const& program, ItemNumber item);

}  // namespace spillway
