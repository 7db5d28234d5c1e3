// Runs a Program, step by step: the only place where it meets kernels, io and comm.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/bind.hpp"
#include "runtime/lane_clock.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

struct EngineDebug {
  bool poison = false;            // begun lifetimes hold NaNs; see poison.hpp
  bool locked_allocator = false;  // compute and transfers must not allocate after the first step
};

// Four threads walk the same total order of items: the caller's runs the compute lane; one each the
// transfers, the collectives and the host lane, where the Program has such items. Each executes the
// items of its lanes and counts all others, so it knows every item's position in its lane without
// asking anybody; a wait is a look at one other lane's count.
//
// The constructor binds every item; a kernel's refusal leaves it as an exception. Several Engines
// may share Tiers; only one of them may be in `run_step`.
class Engine {
 public:
  explicit Engine(EngineParts parts, EngineDebug debug = {});
  ~Engine();  // ends and joins all threads
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  // Runs every item once (a middle segment's more often) and returns when all are done. `step` is
  // passed on to the batches, the commit policy and nothing else: running a step again is legal.
  // What an item throws on any thread is thrown here, after which the Engine cannot run.
  StepResult run_step(std::int64_t step);

  // Every execution of the last step, in total order. Valid until the next one begins.
  std::span<ItemTime const> last_step_times() const { return m_times; }

  // Bytes of a tensor's first buffer in main or device memory, as the last step left them.
  std::span<std::byte> bytes(TensorId tensor) const;

 private:
  using Clock = std::chrono::steady_clock;

  // What is bound to one item.
  struct BoundItem {
    Action run;
    std::array<std::int64_t, kTiers> end{};                    // of the bytes it uses
    std::array<std::vector<std::span<std::byte>>, 2> begun;    // debug.poison: to fill before it
    std::array<std::vector<std::span<std::byte>>, 2> written;  // with AddressSanitizer: to allow
  };

  // A thread's own view of the total order.
  struct Worker {
    unsigned lanes = 0;  // bits of the lanes whose items it executes
    bool locked = false;
    std::vector<std::uint64_t> position;         // of every item's latest instance in its lane
    std::array<std::uint64_t, kLanes> counts{};  // instances passed, per lane
    std::array<double, kLanes> stall_s{};
  };

  void bind_items();
  void bind_poison();
  void start_workers();
  void work(Worker& worker);  // a thread's whole life
  bool walk(Worker& worker);  // one step; false when another thread failed
  bool execute(Worker& worker, Item const& item, std::size_t instance, ItemContext const& context);
  bool wait_for_all(Item const& item, Worker const& worker) const;
  bool wait_for_step();
  void prepare_memory(BoundItem const& bound, std::size_t version) const;
  void forbid_transients() const;
  void fail(std::exception_ptr error);
  [[noreturn]] void rethrow();
  StepResult collect() const;
  void read_own_loss(StepResult& result) const;
  double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - m_begin).count(); }

  EngineParts m_parts;
  EngineDebug m_debug;
  StepRecord m_record;
  std::vector<BoundItem> m_items;
  std::vector<int> m_sequence;
  bool m_has_commit = false;
  std::vector<ItemTime> m_times;

  // Set by the caller's thread before the gate opens.
  std::int64_t m_step = 0;
  std::int64_t m_runs = 0;
  Clock::time_point m_begin;

  LaneClock m_gate;  // steps begun
  std::array<LaneClock, kLanes> m_clocks;
  std::mutex m_error_mutex;
  std::exception_ptr m_error;                      // the first
  std::vector<std::unique_ptr<Worker>> m_workers;  // the first is the caller's
  std::vector<std::jthread> m_threads;
};

}  // namespace spillway
