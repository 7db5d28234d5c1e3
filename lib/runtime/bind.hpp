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

namespace spillway {

class Comm;
struct StepRecord;

// This is passed to an item each time it runs.
struct ItemContext {
  std::int64_t step = 0;
  std::int64_t micro_batch = 0;  // its number in this step
  int parity = 0;                // picks the version of a buffer that has two
  StepRecord* record = nullptr;  // the record of this run
};

// Runs one item to its end, or gives it to the stream that it is bound to; allocates nothing.
using Action = std::function<void(ItemContext const&)>;

// This is a copy to or from the spill file.
struct BoundTransfer {
  std::array<SpillTransfer, 2> versions;  // indexed by parity
  bool matters = false;                   // passed on to FailureLog::note
};

// This is an item with the code that runs it: an action, or else a transfer.
struct BoundItem {
  Action run;
  std::optional<BoundTransfer> transfer;
  std::array<double const*, 2> go{};  // control_go for a write-back, else null
  // The engine reads the following fields.
  std::int64_t bytes = 0;                         // bytes that the item moves
  TierBytes end{};                                // end of the highest bytes, by tier
  std::array<std::vector<MemoryBytes>, 2> begun;  // debug.poison fills these before it
  std::array<std::vector<HostBytes>, 2> written;  // AddressSanitizer then allows these
};

// These are the collaborators of an Engine; all outlive it.
struct EngineParts {
  Program const& program;
  Tiers& tiers;
  Kernels kernels;
  Comm& comm;
  BatchSource& batches;
  CommitPolicy commit;                 // called only where the Program has control words
  bool (*stop_requested)() = nullptr;  // asked once a step, by the commit
  std::int64_t host_threads = 1;       // threads of the host lane, its own included
  MakeWatch make_watch = nullptr;      // null except in tests
};

// The items of one run leave this behind; all but `failures` is written by the commit.
struct StepRecord {
  FailureLog failures;
  CommitSums sums;
  CommitDecision decision;
  bool stop = false;
};

// This is what an item is bound to; all of it outlives the result.
struct BindTo {
  Exec const& exec;               // of the item's lane
  Stream* stream;                 // the lane's, if the device does its items by itself
  std::atomic<bool>& state_lost;  // set by the engine and its commits
};

// Throws Error or std::exception when a kernel refuses its op.
BoundItem bind_item(EngineParts const& parts, BindTo const& to, Item const& item);

Action bind_op(EngineParts const& parts, BindTo const& to, Item const& item);
Action bind_load_batch(EngineParts const& parts, Item const& item);
BoundItem bind_copy(EngineParts const& parts, Stream* stream, Item const& item);
Action bind_all_to_all(EngineParts const& parts, Item const& item);
Action bind_all_gather(EngineParts const& parts, Item const& item);
Action bind_commit(EngineParts const& parts, std::atomic<bool>& state_lost, Item const& item);

// Returns the buffer of an item's operand.
Buffer const& operand(Program const& program, Item const& item, std::size_t index);
// Returns both versions of a buffer that the host reaches; they are the same if it has only one.
std::array<HostBytes, 2> versions(Tiers const& tiers, Buffer const& buffer);

}  // namespace spillway
