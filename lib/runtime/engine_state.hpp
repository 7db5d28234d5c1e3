// An EngineState holds what the threads of an Engine share.
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
#include "runtime/device_lane.hpp"
#include "runtime/doorbell.hpp"
#include "runtime/lane_clock.hpp"
#include "runtime/order_watch.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

struct EngineDebug {
  bool poison = false;            // fills bytes with NaNs when their lifetime begins
  bool locked_allocator = false;  // after the first step only messages to other ranks may allocate
};

// A Run holds one run of the Program. Two of them take turns, since no lane is more than one run
// behind.
struct Run {
  std::int64_t step = 0;
  SteadyClock::time_point begin;
  double step_s = 0;  // how long it took until the next run could begin
  StepRecord record;
  std::vector<ItemTime> times;  // the times of all executions, in total order
  // Times on a device are counted from this event, which is recorded when the run begins.
  std::unique_ptr<Event> device_begin;
  std::array<bool, kLanes> begin_is_known{};  // whether lane i has seen device_begin done

  double elapsed_s() const { return seconds_since(begin); }
};

// A Tally is a sum that never decreases. Only one thread at a time may add to it.
template <class T>
class Tally {
 public:
  void add(T amount) {
    m_sum.store(m_sum.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  // Returns what was added since the last call. Only the thread that reports may call it.
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
  // Returns whether to leave out a copy that takes state back, because its step is not committed or
  // its bytes may be wrong.
  bool is_void(BoundItem const& bound, ItemContext const& now) const;
  // With `debug.poison`, allows access to what the item writes, and fills the bytes whose lifetime
  // begins. The bytes are filled in `stream` if it is not null.
  void prepare_memory(BoundItem const& bound, int parity, Stream* stream = nullptr) const;
  // The first function tells other lanes that this item and all before it on its lane are complete.
  // The second one tells them that `count` more items of the clock's lane are complete.
  void publish(Lane lane, BoundItem const& bound);
  void publish(LaneClock& clock, std::uint64_t count = 1);
  void note_use(BoundItem const& bound);  // raises the measured peaks of the tiers
  void open_gate(std::uint64_t run);      // lets lanes begin the run

  Lane lane_of(ItemNumber item) const {
    return parts.program.items[static_cast<std::size_t>(item)].lane;
  }
  // Returns null for a lane whose items end when the call that does them returns.
  DeviceLane* device_lane(Lane lane) { return device_lanes[index(lane)].get(); }
  // Returns the clock that lane `waiting` looks at when it waits for an item of lane `awaited`. If
  // both are lanes of the device, whose streams wait for each other, the clock counts launched
  // items, otherwise items that have ended.
  LaneClock& clock(Lane awaited, Lane waiting);
  void ring_poller();

  // These functions tell the OrderWatch, if there is one, what this thread does and relies on.
  void saw(LaneClock const& clock, std::uint64_t position) const {
    if (watch != nullptr) watch->has_seen(&clock, position);
  }
  void saw_end(Lane lane, std::uint64_t runs, std::uint64_t position) const;
  void acts_for(void const* whom) const {
    if (watch != nullptr) watch->acts_for(whom);
  }
  void begins(Execution const& execution) const;
  void has_begun(Execution const& execution) const;
  void ends(Execution const& execution) const;
  void fail(std::exception_ptr reason);
  void end();  // ends every wait, now and later
  [[noreturn]] void rethrow();

  EngineParts parts;
  EngineDebug debug;
  std::unique_ptr<OrderWatch> watch;
  std::vector<int> sequence;
  std::vector<BoundItem> items;
  std::array<Run, 2> runs;
  std::atomic<bool> state_lost = false;  // true once state is lost (see CommitWord)

  LaneClock gate;  // counts the runs that were begun
  std::array<LaneClock, kLanes> clocks;
  Doorbell doorbell;  // wakes the transfer thread
  std::array<std::unique_ptr<DeviceLane>, kLanes> device_lanes;
  std::unique_ptr<Stream> begin_stream;  // does no work, so an event recorded in it is done at once
  SleepWord poll_bell;                   // changes when the polling thread has more to ask about

  std::optional<HostPool> host_pool;  // present if the host lane has several threads
  std::unique_ptr<Exec const> host_exec, compute_exec;

  struct LaneTally {
    Tally<double> busy_s, stall_s;
    Tally<std::int64_t> bytes;
  };
  std::array<LaneTally, kLanes> tallies;
  std::array<Tally<double>, kLanes> compute_stall_s;  // by the lane that compute waited for
  std::array<Tally<double>, kWorkParts> compute_work_s;

  std::mutex error_mutex;
  std::exception_ptr error;  // the first error that any thread met
};

}  // namespace spillway
