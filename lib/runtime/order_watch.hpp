// An OrderWatch lets a test see in which order an Engine really did things.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/data/program.hpp"

namespace spillway {

// An Execution is one execution of an item. `instance` is its number among the executions of run
// `run`.
struct Execution {
  std::uint64_t run = 0;
  std::size_t instance = 0;
  ItemNumber item = 0;
};

// The engine's threads call these functions. The Engine of a training run has no OrderWatch.
class OrderWatch {
 public:
  virtual ~OrderWatch() = default;

  // Threads wait for counts, which are named by their addresses. What a thread did before it
  // publishes that a count reaches `until` has happened before whatever another thread does after
  // it has seen the count there. A thread may rely only on the `position` that it waited for, even
  // if the count is higher.
  virtual void publishes(void const* count, std::uint64_t until) = 0;
  virtual void has_seen(void const* count, std::uint64_t position) = 0;
  // A thread that does the work of several lanes acts for one of them from here on. Any address may
  // stand for the lane. What the thread has seen for one lane does not count for another, because
  // no order between these lanes is promised.
  virtual void acts_for(void const* whom) = 0;

  // The calling thread has prepared a run, which begins after this call.
  virtual void prepares(std::uint64_t run) = 0;
  // The calling thread relies on the end of all that a lane did in the runs before number `runs`.
  virtual void relies_on(Lane lane, std::uint64_t runs) = 0;

  // The calling thread runs the item between `begins` and `has_begun`, or puts its work into a
  // stream of the device. A transfer of the drive is only started between them. `ends` comes before
  // the lane counts the item.
  virtual void begins(Execution const& execution) = 0;
  virtual void has_begun(Execution const& execution) = 0;
  virtual void ends(Execution const& execution) = 0;
};

}  // namespace spillway
