// An Engine runs a Program step by step. Only here does a Program meet kernels, io and comm.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "runtime/engine_state.hpp"
#include "runtime/transfer_lanes.hpp"

namespace spillway {

// Up to five threads walk the same total order of items. The caller's thread runs the compute lane.
// The others run the transfers, the comm lane (collectives and commits), the data lane (batches)
// and the host lane, if the Program has such items. More threads may share the host lane's ops
// (HostPool). A wait only reads how many items another lane has done. No barrier separates steps:
// compute begins the next step while other lanes finish the last one.
//
// On a device that works by itself, compute and the copies to and from the device are lanes of
// streams (DeviceLane). The same threads then only launch their items, and one more thread learns
// which items have ended.
//
// The constructor binds every item, and throws if a kernel refuses its op. Several Engines may
// share Tiers, but only one of them may have runs that are begun and not finished.
class Engine {
 public:
  explicit Engine(EngineParts parts, EngineDebug debug = {});
  ~Engine();  // stops all threads, wherever they are, and joins them
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  // Runs every item once, and items of a middle segment more often. Returns when the compute and
  // data lanes are done and the commit's decision is known. Other lanes may work on, at most until
  // `finish` or the end of the next call, so the caller may use Comm only after `finish`, or if the
  // word says that something failed. `step` is only passed to the batches and the commit policy, so
  // a step may be run again. In a Program without a commit, a failed transfer throws
  // Error(storage), because there is no result. What an item throws on any thread is thrown here or
  // by `finish`; after that the Engine cannot run.
  StepResult run_step(std::int64_t step);
  // Says whether ranks gather anything in a run, so that each waits for all others within it.
  bool gathers() const;

  // Waits until all lanes are done with all runs. Throws what items threw, and Error(storage) if
  // state is lost on this rank (see CommitWord).
  void finish();

  // Call after `finish`. Returns whether a transfer of the last run failed. A Program without a
  // commit has no other report of a failure if no later item needed the bytes.
  bool storage_failed() const;

  // Call after `finish`. Returns the times of all executions of the last step, in total order. The
  // span is valid until the next step.
  std::span<ItemTime const> last_step_times() const;

  // Call after `finish`. Returns the bytes of a tensor's first buffer outside nvme, as the last
  // step left them. Throws std::logic_error if the buffer lies in a device's own memory.
  HostBytes bytes(TensorId tensor) const;

 private:
  struct Worker {
    Cursor cursor;
    bool locked;  // true if debug.locked_allocator forbids it to allocate
  };

  void require_reach() const;
  void make_device_lanes();
  void prepare_device_lanes();
  void bind_items();
  void bind_poison();
  void start_workers();
  void work(Worker& worker);  // what the threads of the comm, host and data lanes run
  void transfer();            // what the transfer thread runs
  void poll();                // what the thread runs that learns which items of a device have ended
  bool walk(Worker& worker);  // walks one run; returns false if another thread failed
  bool execute(Cursor const& cursor, Item const& item);
  bool wait_for_all(Cursor const& cursor, Item const& item);
  bool wait_for_lane(Lane lane, std::uint64_t runs) const;
  bool wait_for_room(std::uint64_t runs);
  bool stall_for(Lane lane, std::uint64_t items);
  bool wait_for_end();
  std::uint64_t decision_position() const;
  bool wait_for_decision() const;
  bool wait_for_lanes(std::uint64_t runs) const;
  void forbid_transients() const;
  void tell_trace(std::uint64_t runs);
  StepResult collect();
  void read_own_loss(StepResult& result) const;

  EngineState m_state;
  bool m_has_commit = false;
  bool m_polls = false;  // true if the Program has device lanes
  std::array<std::uint64_t, kLanes> m_items_per_run{};
  std::uint64_t m_items_to_decision = 0;  // how many items the comm lane has until all is decided
  std::uint64_t m_runs = 0;               // how many runs were begun
  std::uint64_t m_runs_told = 0;          // how many of them EngineParts::trace was told of
  std::optional<Worker> m_compute;
  std::vector<std::unique_ptr<Worker>> m_workers;  // those of the comm, host and data lanes
  std::optional<TransferLanes> m_transfers;
  std::vector<std::jthread> m_threads;
};

}  // namespace spillway
