// Items are bound to what runs them: everything that can be looked up is looked up once, before
// step 0.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "io/spill/spill_file.hpp"
#include "kernels/kernel.hpp"
#include "plan/data/program.hpp"
#include "runtime/batch_source.hpp"
#include "runtime/commit.hpp"
#include "runtime/failure_log.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

class Comm;
struct StepRecord;

// An item is told this each time it runs.
struct ItemContext {
  std::int64_t step = 0;
  std::int64_t micro_batch = 0;  // its number in this step
  int parity = 0;                // which version of a buffer that has two
  StepRecord* record = nullptr;  // of this run
};

// Runs one item to its end; allocates nothing.
using Action = std::function<void(ItemContext const&)>;

// This is a copy to or from the spill file.
struct BoundTransfer {
  std::array<SpillTransfer, 2> versions;  // by parity
  bool matters = false;                   // as FailureLog::note asks
};

// An item is run by an action, or else by a transfer.
struct BoundItem {
  Action run;
  std::optional<BoundTransfer> transfer;
  std::array<double const*, 2> go{};  // control_go for a write-back; else null
  // The engine reads these:
  std::int64_t bytes = 0;                                    // that the item moves
  std::array<std::int64_t, kTiers> end{};                    // where the bytes end that it uses
  std::array<std::vector<std::span<std::byte>>, 2> begun;    // what debug.poison fills before it
  std::array<std::vector<std::span<std::byte>>, 2> written;  // what AddressSanitizer allows then
};

// These are the collaborators of an Engine; all outlive it.
struct EngineParts {
  Program const& program;
  Tiers& tiers;
  Exec const& exec;
  Kernel (*kernels)(OpKind);  // the table: spillway::kernel
  Comm& comm;
  BatchSource& batches;
  CommitPolicy commit;                 // called only where the Program has control words
  bool (*stop_requested)() = nullptr;  // asked once a step, by the commit
  std::int64_t host_threads = 1;       // of the host lane, its own among them
};

// The items of one run leave this behind; all but `failures` is written by the commit.
struct StepRecord {
  FailureLog failures;
  CommitSums sums;
  CommitDecision decision;
  bool stop = false;
};

// Throws Error or std::exception when a kernel refuses its op. `state_lost` is the engine's: set by
// its commits too; it and `host_exec`, on which the host lane runs, outlive what is bound.
BoundItem bind_item(EngineParts const& parts, Exec const& host_exec, std::atomic<bool>& state_lost,
                    Item const& item);

Action bind_op(EngineParts const& parts, Exec const& host_exec, Item const& item);
Action bind_load_batch(EngineParts const& parts, Item const& item);
BoundItem bind_copy(EngineParts const& parts, Item const& item);
Action bind_all_to_all(EngineParts const& parts, Item const& item);
Action bind_all_gather(EngineParts const& parts, Item const& item);
Action bind_commit(EngineParts const& parts, std::atomic<bool>& state_lost, Item const& item);

// Returns the buffer of an item's operand.
Buffer const& operand(Program const& program, Item const& item, std::size_t index);
// Returns both versions of a buffer, the same twice where it has one.
std::array<std::span<std::byte>, 2> versions(Tiers const& tiers, Buffer const& buffer);

}  // namespace spillway
