// Finds the largest value of a key with which a run still fits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/time/run_cost.hpp"

namespace spillway {

// A TriedValue says whether a run fits with a value, how fast it is then, or why it does not.
struct TriedValue {
  std::int64_t value = 0;
  bool fits = false;
  double step_s = 0, tokens_per_s = 0;
  std::string why = {};
  RunCost run = {};  // what a run with this value takes
};

// Asks about `first` and twice as much until a value does not fit, or half as much until one does,
// and then about values in between until the largest one is known to 1/64 of it, or exactly below
// 64. No value is above `most`. Returns what was asked, in rising order of the values. If not even
// 1 fits, nothing returned does.
std::vector<TriedValue> try_values(std::int64_t first, std::int64_t most,
                                   std::function<TriedValue(std::int64_t)> const& ask);

// These functions return the largest value that fits, and the one with most tokens a second, or
// null if none fits. The pointers lead into `tried`.
TriedValue const* largest_of(std::vector<TriedValue> const& tried);
TriedValue const* fastest_of(std::vector<TriedValue> const& tried);

}  // namespace spillway
