// Binds each item to the code that runs it. Everything that can be looked up is looked up here,
// once, before step 0.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "io/spill/spill_file.hpp"
#include "plan/data/program.hpp"
#include "runtime/batch_source.hpp"
#include "runtime/commit.hpp"
#include "runtime/compute.hpp"
#include "runtime/failure_log.hpp"
#include "runtime/tiers.hpp"
#include "runtime/work_part.hpp"

namespace spillway {

class Comm;
struct StepRecord;
struct RunTimes;

// An ItemContext is passed to an item each time it runs.
struct ItemContext {
  std::int64_t step = 0;
  std::int64_t micro_batch = 0;  // the micro-batch's number in this step
  int parity = 0;                // chooses the version of a buffer that has two
  StepRecord* record = nullptr;  // the record of this run
};

// An Action runs one item to its end, or puts its work into the stream that the item is bound to.
// It allocates nothing itself.
using Action = std::function<void(ItemContext const&)>;

// A BoundTransfer is a copy to or from the spill file.
struct BoundTransfer {
  std::array<SpillTransfer, 2> versions;  // indexed by parity
  bool matters = false;                   // the argument of FailureLog::note if the transfer fails
};

// A BoundItem is an item with the code that runs it, which is an action or else a transfer.
struct BoundItem {
  Action run;
  std::optional<BoundTransfer> transfer;
  // If the item is a copy that takes changed state back, these point to `control_go`, by parity;
  // else they are null.
  std::array<double const*, 2> go{};
  // The engine sets and reads the following fields.
  std::int64_t bytes = 0;  // how many bytes the item moves; 0 for an op
  TierBytes end{};         // where the highest bytes that the item uses end, by tier
  WorkPart part{};         // what the item's time counts as on the compute lane
  // These are the bytes, by parity, whose lifetime begins when the item writes them. With
  // `debug.poison`, they are filled before the item runs.
  std::array<std::vector<MemoryBytes>, 2> begun;
  // These are the bytes of main memory, by parity, that the item writes. With `debug.poison`,
  // AddressSanitizer allows access to them from this item on.
  std::array<std::vector<HostBytes>, 2> written;
};

// EngineParts are what an Engine works with. All that they refer to must outlive the Engine.
struct EngineParts {
  Program const& program;
  Tiers& tiers;
  Kernels kernels;
  Comm& comm;
  BatchSource& batches;
  CommitPolicy commit;                  // called only if the Program has control words
  std::function<RankNote()> note = {};  // asked by each commit and report, on their thread
  std::int64_t host_threads = 1;        // how many threads the host lane has, its own included
  MakeWatch make_watch = nullptr;       // null except in tests
  // Told of every run once all its items have ended, by the thread that calls the Engine: before
  // the run after the next begins, or in `finish`.
  std::function<void(RunTimes const&)> trace = {};
};

// A StepRecord is what the items of one run leave behind. Transfers note their failures in it, and
// the commit and the report write the rest.
struct StepRecord {
  FailureLog failures;
  CommitSums sums;
  CommitDecision decision;
  RankNote note;
  std::vector<MutualWait> waits = {};  // by rank
};

// A BindTo is what an item is bound to. All that it refers to must outlive the result.
struct BindTo {
  Exec const& exec;               // what kernels on the item's lane are launched with
  Stream* stream;                 // the lane's stream; null if work ends when its call returns
  std::atomic<bool>& state_lost;  // true once state is lost (see CommitWord)
};

// Binds an item of any kind. Throws Error or std::exception if a kernel refuses its op.
BoundItem bind_item(EngineParts const& parts, BindTo const& to, Item const& item);

Action bind_op(EngineParts const& parts, BindTo const& to, Item const& item);
Action bind_load_batch(EngineParts const& parts, Item const& item);
BoundItem bind_copy(EngineParts const& parts, Stream* stream, Item const& item);
// Returns pointers to `control_go`, by parity, if the item has the control words as a third
// operand, so that it does nothing unless the step was committed; else returns nulls.
std::array<double const*, 2> go_words(EngineParts const& parts, Item const& item);
Action bind_all_to_all(EngineParts const& parts, Item const& item);
Action bind_all_gather(EngineParts const& parts, Item const& item);
Action bind_commit(EngineParts const& parts, std::atomic<bool>& state_lost, Item const& item);

// Returns the buffer of the operand with number `index`.
Buffer const& operand(Program const& program, Item const& item, std::size_t index);
// Returns the bytes of both versions of a buffer that the host reaches. They are the same bytes if
// the buffer has only one version.
std::array<HostBytes, 2> versions(Tiers const& tiers, Buffer const& buffer);

}  // namespace spillway
