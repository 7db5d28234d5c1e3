// What the threads of an Engine share.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/steady_clock.hpp"
#include "kernels/exec.hpp"
#include "kernels/host_pool.hpp"
#include "runtime/bind.hpp"
#include "runtime/cursor.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/lane_clock.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

struct EngineDebug {
  bool poison = false;            // begun lifetimes hold NaNs; see poison.hpp
  bool locked_allocator = false;  // after the first step only the comm lane may allocate
};

// One run of the Program. There are two, which take turns: a lane is at most one run behind.
struct Run {
  std::int64_t step = 0;
  SteadyClock::time_point begin;
  StepRecord record;
  std::vector<ItemTime> times;  // in total order

  double elapsed_s() const { return seconds_since(begin); }
};

// Never decreasing, written by one thread at a time.
template <class T>
class Tally {
 public:
  void add(T amount) {
    m_sum.store(m_sum.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  // What has come since the last call; by the one who reports.
  T take() {
    auto const sum = m_sum.load(std::memory_order_relaxed);
    return sum - std::exchange(m_taken, sum);
  }

 private:
  std::atomic<T> m_sum = 0;
  T m_taken = 0;
};

struct EngineState {
  EngineState(EngineParts engine_parts, EngineDebug engine_debug);

  Run& run(std::uint64_t number) { return runs[number % 2]; }
  ItemContext context(Cursor const& cursor);
  // Whether a write-back is left out: its step is not committed, or its bytes may be wrong.
  bool is_void(BoundItem const& bound, ItemContext const& now) const;
  void prepare_memory(BoundItem const& bound, int parity) const;
  // An item is complete, and all before it on its lane.
  void publish(Lane lane, BoundItem const& bound);
  void open_gate();  // for one more run
  void fail(std::exception_ptr reason);
  void end();  // every wait, now and later
  [[noreturn]] void rethrow();

  EngineParts parts;
  EngineDebug debug;
  std::vector<int> sequence;
  std::vector<BoundItem> items;
  std::array<Run, 2> runs;
  std::atomic<bool> state_lost = false;  // see CommitWord

  LaneClock gate;  // runs begun
  std::array<LaneClock, kLanes> clocks;
  Doorbell doorbell;  // of the transfer thread

  std::optional<HostPool> host_pool;  // where the host lane has several threads
  Exec host_exec;

  struct LaneTally {
    Tally<double> busy_s, stall_s;
    Tally<std::int64_t> bytes;
  };
  std::array<LaneTally, kLanes> tallies;
  std::array<Tally<double>, kLanes> compute_stall_s;  // by the lane that was waited for

  std::mutex error_mutex;
  std::exception_ptr error;  // the first
};

}  // namespace spillway
