// What a test may look at to judge in which order an Engine really did things.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/data/program.hpp"

namespace spillway {

// An execution of an item: `instance` counts the items of run `run`.
struct Execution {
  std::uint64_t run = 0;
  std::size_t instance = 0;
  ItemNumber item = 0;
};

// The engine's threads call these; the Engine of a training run has no OrderWatch.
class OrderWatch {
 public:
  virtual ~OrderWatch() = default;

  // A count that threads wait for is named by its address. What a thread did before it publishes
  // that the count comes to `until` has happened before whatever a thread does after it has seen
  // it there. Nobody may rely on a count that has come further than the `position` he waited for.
  virtual void publishes(void const* count, std::uint64_t until) = 0;
  virtual void has_seen(void const* count, std::uint64_t position) = 0;
  // A thread that does the work of several lanes acts for one of them from here on, named by any
  // address. What it knows as one of them it need not know as another: they are in no order.
  virtual void acts_for(void const* whom) = 0;

  // The calling thread has prepared a run, which begins after that.
  virtual void prepares(std::uint64_t run) = 0;
  // It relies on the end of all that a lane did in the runs before `runs`.
  virtual void relies_on(Lane lane, std::uint64_t runs) = 0;

  // The calling thread does the item between these, or gives its work to a stream of the device. A
  // transfer of the drive is only begun between the first two; it `ends` when its lane's count
  // tells so.
  virtual void begins(Execution const& execution) = 0;
  virtual void has_begun(Execution const& execution) = 0;
  virtual void ends(Execution const& execution) = 0;
};

}  // namespace spillway
