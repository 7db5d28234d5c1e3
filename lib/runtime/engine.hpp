// Runs a Program, step by step: the only place where it meets kernels, io and comm.
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

// Four threads walk the same total order of items: the caller's runs the compute lane; one each the
// transfers, the comm lane (batches and collectives) and the host lane, where the Program has such
// items. The host lane's may have others that share its ops (HostPool). A wait is a look at one
// other lane's count. Steps follow each other without a barrier: compute goes on to the next one
// while other lanes finish the last.
//
// The constructor binds every item; a kernel's refusal leaves it as an exception. Several Engines
// may share Tiers; only one of them may have begun runs that it has not finished.
class Engine {
 public:
  explicit Engine(EngineParts parts, EngineDebug debug = {});
  ~Engine();  // ends and joins all threads, wherever they are
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  // Runs every item once (a middle segment's more often). Returns when the compute lane is done and
  // the comm lane too, so that what the commit decided is known and Comm is the caller's again;
  // other lanes may still be at work, until `finish` or for as long as the next call, no longer.
  // `step` is passed on to the batches, the commit policy and nothing else: running a step again is
  // legal. In a Program without a commit a failed transfer throws Error(storage), for there is no
  // result. What an item throws on any thread is thrown here or by `finish`, after which the Engine
  // cannot run.
  StepResult run_step(std::int64_t step);

  // Waits until all lanes are done with all runs. Throws what items threw, and Error(storage) when
  // state is lost on this rank (see CommitWord).
  void finish();

  // After `finish`: whether a transfer of the last run failed. For Programs without a commit, of
  // which nobody else says so where no later item needed the bytes.
  bool storage_failed() const;

  // Every execution of the last step, in total order. After `finish`; valid until the next step.
  std::span<ItemTime const> last_step_times() const;

  // Bytes of a tensor's first buffer in main or device memory, as the last step left them. After
  // `finish`.
  std::span<std::byte> bytes(TensorId tensor) const;

 private:
  struct Worker {
    Cursor cursor;
    bool locked;  // by debug.locked_allocator
  };

  void bind_items();
  void bind_poison();
  void start_workers();
  void work(Worker& worker);  // a thread's whole life
  void transfer();            // the transfer thread's
  bool walk(Worker& worker);  // one run; false when another thread failed
  bool execute(Cursor const& cursor, Item const& item);
  bool wait_for_all(Cursor const& cursor, Item const& item);
  bool wait_for_lane(Lane lane, std::uint64_t runs) const;
  bool wait_for_room(std::uint64_t runs);
  bool wait_for_lanes(std::uint64_t runs) const;
  void forbid_transients() const;
  StepResult collect();
  void read_own_loss(StepResult& result) const;

  EngineState m_state;
  bool m_has_commit = false;
  std::array<std::uint64_t, kLanes> m_items_per_run{};
  std::uint64_t m_runs = 0;  // begun
  std::optional<Worker> m_compute;
  std::vector<std::unique_ptr<Worker>> m_workers;  // of threads
  std::optional<TransferLanes> m_transfers;
  std::vector<std::jthread> m_threads;
};

}  // namespace spillway
