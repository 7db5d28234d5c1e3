// From an item to what runs it: everything that can be looked up is looked up once, before step 0.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "kernels/kernel.hpp"
#include "plan/program.hpp"
#include "runtime/batch_source.hpp"
#include "runtime/commit.hpp"
#include "runtime/tiers.hpp"

namespace spillway {

class Comm;

// What an item is told each time it runs.
struct ItemContext {
  std::int64_t step = 0;
  std::int64_t micro_batch = 0;  // how many batches this step has loaded before
  int parity = 0;                // which version of buffers that have two
};

// Runs one item to its end; allocates nothing.
using Action = std::function<void(ItemContext const&)>;

// The collaborators of an Engine; all outlive it.
struct EngineParts {
  Program const& program;
  Tiers& tiers;
  Exec const& exec;
  Kernel (*kernels)(OpKind);  // the table: spillway::kernel
  Comm& comm;
  BatchSource& batches;
  CommitPolicy commit;                 // called only where the Program has control words
  bool (*stop_requested)() = nullptr;  // asked once a step, by the commit
};

// What items leave behind for the end of the step; each field has one writing thread.
struct StepRecord {
  std::atomic<bool> storage_failed = false;  // since the last commit
  std::int64_t spilled_bytes = 0, reloaded_bytes = 0;
  CommitSums sums;
  CommitDecision decision;
  bool stop = false;
};

// Throws Error or std::exception when a kernel refuses its op.
Action bind(EngineParts const& parts, StepRecord& record, Item const& item);

Action bind_op(EngineParts const& parts, Item const& item);
Action bind_load_batch(EngineParts const& parts, Item const& item);
Action bind_copy(EngineParts const& parts, StepRecord& record, Item const& item);
Action bind_all_to_all(EngineParts const& parts, Item const& item);
Action bind_all_gather(EngineParts const& parts, Item const& item);
Action bind_commit(EngineParts const& parts, StepRecord& record, Item const& item);

// Buffer of an item's operand.
Buffer const& operand(Program const& program, Item const& item, std::size_t index);
// Both versions of a buffer; the same twice where it has one.
std::array<std::span<std::byte>, 2> versions(Tiers const& tiers, Buffer const& buffer);

}  // namespace spillway
