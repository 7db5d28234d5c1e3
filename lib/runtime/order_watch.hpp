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
  // has happened before whatever a thread does after it has seen that.
  virtual void publishes(void const* count) = 0;
  virtual void has_seen(void const* count) = 0;

  // The calling thread does the item between these, or gives its work to a stream of the device. A
  // transfer of the drive is only begun between the first two, and `ends` comes later.
  virtual void begins(Execution const& execution) = 0;
  virtual void has_begun(Execution const& execution) = 0;
  virtual void ends(Execution const& execution) = 0;
};

}  // namespace spillway
